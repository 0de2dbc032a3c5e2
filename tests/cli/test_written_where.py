"""A place that cannot be written to is a mistake with a remedy, not a fault to report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.model.message import assistant
from tests.cli.running import run

AS_SOMEBODY = [] if os.geteuid() else ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
"""Root writes everywhere, unless it gives up what lets it."""


@pytest.fixture
def store(tmp_path: Path) -> str:
    with holdfast.open(tmp_path / "log.db") as hf:
        session = hf.session(model="gpt-5.1", directory=tmp_path)
        session.user("Mend the roof.")
        session.append(assistant("It is mended."))
    return str(tmp_path / "log.db")


def test_a_directory_that_is_not_there_is_to_be_made(store: str, tmp_path: Path) -> None:
    file = str(tmp_path / "none" / "x.html")
    done = run("export", "last", "--to", "html", "-o", file, "--store", store)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"error: '{file}' cannot be written: there is no such directory" in done.stderr
    assert "do: make it first, or name another place" in done.stderr
    with holdfast.open(store) as hf:
        (session,) = hf.sessions(limit=1)
        with pytest.raises(InvalidRequest, match="there is no such directory; make it first"):
            hf.export(session.id, "html", file=file)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "a" * 300])
def test_what_can_be_no_file_is_refused_in_words(name: str, store: str, tmp_path: Path) -> None:
    with holdfast.open(store) as hf:
        (session,) = hf.sessions(limit=1)
        with pytest.raises(InvalidRequest, match="name"):
            hf.export(session.id, "html", file=tmp_path / name)
    with pytest.raises(HoldfastError), holdfast.open(tmp_path / name):
        raise AssertionError("there is no such store")


@pytest.mark.parametrize(
    "asked",
    [
        ("export", "last", "--to", "html", "-o", "shut/x.html"),
        ("stats", "--picture", "shut/s.svg"),
        ("handoff", "last", "--to", "codex"),
        ("handoff", "last", "--to", "markdown", "-o", "shut/x.md"),
    ],
    ids=lambda asked: " ".join(asked[:3]),
)
def test_one_that_is_not_ours_is_named_so(
    asked: tuple[str, ...], store: str, tmp_path: Path
) -> None:
    if AS_SOMEBODY and not shutil.which("setpriv"):
        pytest.skip("root writes everywhere here, and there is no setpriv to give that up")
    shut = tmp_path / "shut"
    shut.mkdir()
    shut.chmod(0o500)
    command = [*AS_SOMEBODY, sys.executable, "-m", "holdfast.cli", *asked, "--store", store]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=tmp_path,
        env={**os.environ, "CODEX_HOME": str(shut)},
    )  # fmt: skip
    told = " ".join(done.stderr.split())
    assert "cannot be written: it is not yours to write to" in told
    assert "name another place, or have it opened to you" in told
    assert "report it" not in told
    assert done.returncode == 1
    assert os.listdir(shut) == []
