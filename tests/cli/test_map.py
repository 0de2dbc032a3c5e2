"""`holdfast map` prints a map of any directory, and says what it needs where it cannot."""

import sys
from pathlib import Path

import pytest

from tests.cli.running import program, run, values


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    defined = "".join(f"def {name}(): ...\n" for name in ("open_store", "lone_wolf", "third"))
    (tmp_path / "work/store.py").write_text(defined)
    (tmp_path / "work/use.py").write_text("from store import open_store\nopen_store()\n")
    return tmp_path / "work"


def test_it_prints_what_is_referred_to_most(work: Path) -> None:
    done = run("map", str(work))
    assert done.exit_code == 0
    assert "store.py\n  def open_store()\n  def lone_wolf()\n" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("tokens · 3 definitions in 2 files")


def test_as_json_and_within_its_tokens(work: Path) -> None:
    (told,) = values("map", str(work), "--tokens", "45")
    assert told["tokens"] <= 45
    assert (told["definitions"], told["unread"]) == (1, 0)
    assert "open_store" in told["text"]
    (told,) = values("map", str(work), "--tokens", "50", "--about", "lone_wolf")
    assert "lone_wolf" in told["text"]
    assert values("map", str(work), "--tokens", "1")[0]["text"] == ""


def test_a_place_that_is_no_directory_is_refused(work: Path) -> None:
    assert run("map", str(work / "store.py")).exit_code == 2


def test_without_the_extra_it_says_how_to_get_it(work: Path) -> None:
    hidden = work.parent / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['tree_sitter'] = None\n")
    path = f"{hidden}:{':'.join(one for one in sys.path if one)}"
    done = program("map", str(work), PYTHONPATH=path)
    assert done.returncode == 1
    assert "pip install 'holdfast[repomap]'" in done.stderr
    assert "Traceback" not in done.stderr
