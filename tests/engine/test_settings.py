"""Where the store is, and which values never enter the log."""

from pathlib import Path

import pytest

import holdfast
from holdfast.engine.plugins import open_store
from holdfast.engine.settings import settings
from holdfast.errors import InvalidRequest, NotFound


def test_an_argument_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "holdfast").mkdir()
    env = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": "/data"}
    assert settings(environ=env).store == "/data/holdfast/holdfast.db"
    (tmp_path / "holdfast" / "settings.toml").write_text('store = "from-file.db"')
    assert settings(environ=env).store == "from-file.db"
    env["HOLDFAST_STORE"] = "from-env.db"
    assert settings(environ=env).store == "from-env.db"
    assert settings("from-argument.db", environ=env).store == "from-argument.db"


@pytest.mark.parametrize(
    ("text", "says"),
    [("stroe = 'x'", "store"), ("store = ", "cannot be read"), ("store = 5", "text")],
)
def test_a_settings_file_that_is_wrong_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "settings.toml").write_text(text)
    with pytest.raises(InvalidRequest, match=says):
        settings(environ={"XDG_CONFIG_HOME": str(tmp_path)})


def test_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("plain.db", "sqlite:///relative.db", f"sqlite:///{tmp_path}/absolute.db"):
        open_store(url).close()
    assert {file.name for file in tmp_path.glob("*.db")} == {
        "plain.db",
        "relative.db",
        "absolute.db",
    }
    with pytest.raises(NotFound, match="sqlite"):
        open_store("sqlit:///x.db")
    with pytest.raises(InvalidRequest, match="names no file"):
        open_store("sqlite://")


def test_our_own_keys_never_enter_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "canary-4f7a1c9e55"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(title=f"title {key}", directory=tmp_path)
        s.user(f"my key is {key}, is it?")
        s.append(holdfast.assistant(holdfast.ToolCall("c", "sh", f'{{"cmd": "echo {key}"}}')))
        s.tool_result("c", f"{key}\n" * 20_000)
        s.rename(f"renamed {key}")
        assert "[redacted]" in next(s.entries()).body.text  # type: ignore[union-attr]
        hf.search("key")
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes(), file


def test_a_blank_variable_counts_as_unset() -> None:
    env = {"HOLDFAST_STORE": "   ", "XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/nowhere"}
    assert settings(environ=env).store == "/data/holdfast/holdfast.db"


def test_what_a_collector_is_told_in_headers_is_secret() -> None:
    found = settings(
        environ={"OTEL_EXPORTER_OTLP_HEADERS": "x=1,Authorization=Bearer tok-12345678"}
    )
    assert "tok-12345678" in found.secrets
    assert "1" not in found.secrets
