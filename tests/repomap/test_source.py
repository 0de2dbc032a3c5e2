"""The map of real directories: ranked, fitted, confined, cached, and made anew when it may be."""

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.core.repo_map import Tags
from holdfast.counters.exact import count
from holdfast.engine.bridge import drive
from holdfast.files import xdg_home
from holdfast.repomap.parse import tags
from holdfast.repomap.source import Asked, RepoMap

LARGEST = 524_288
"""What is promised, in numbers: these tests stand at its edges."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return xdg_home("XDG_CACHE_HOME", ".cache")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    files = {
        "lib/store.py": "class Store:\n    def open_store(self): ...\n\ndef helper_one(): ...\n",
        "lib/use.py": "from lib.store import Store\nStore().open_store()\nStore().open_store()\n",
        "web/app.ts": "export class WebApp { start() { return fetchAll() } }\n",
        "web/fetch.js": "export function fetchAll() { return 1 }\n",
        "native/core.go": "package core\nfunc RunAll() error { return nil }\n",
        "notes.txt": "class NotCode: ...",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


class Counted:
    """Parses in this process, and remembers how often."""

    def __init__(self) -> None:
        self.many = 0

    def __call__(self, language: str, source: bytes) -> Tags:
        self.many += 1
        return tags(language, source)


def git(root: Path, *words: str) -> None:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr


@pytest.mark.seed("001", 111)
def test_several_languages_are_ranked_in_one_map(repository: Path) -> None:
    made = RepoMap(repository).made(1_000)
    for told in ("  class Store", "    def open_store(self)", "function fetchAll()", "func RunAll"):
        assert told in made.text
    assert "NotCode" not in made.text
    assert "class Store" in RepoMap(repository).made(60).text, "it is referred to most"


@pytest.mark.seed("001", 18)
@pytest.mark.parametrize("allowance", [0, 1, 10, 20, *range(35, 115, 5)])
def test_it_fits_by_exact_count(repository: Path, allowance: int) -> None:
    made = RepoMap(repository, count=lambda text: count(text, "o200k_base")).made(allowance)
    assert count(made.text, "o200k_base") == made.tokens <= allowance


def test_with_enough_to_show_an_allowance_is_used_to_within_15_per_cent(tmp_path: Path) -> None:
    for n in range(120):
        (tmp_path / f"m{n}.py").write_text(f"def function_{n}(): ...\nfunction_{n * 7 % 120}()\n")
    source = RepoMap(tmp_path, count=lambda text: count(text, "o200k_base"))
    for allowance in range(100, 900, 100):
        assert allowance * 0.85 <= source.made(allowance).tokens <= allowance


def test_a_file_is_parsed_once_until_it_changes_however_often_it_is_asked_for(
    repository: Path,
) -> None:
    parsed = Counted()
    RepoMap(repository, parse=parsed).tags()
    assert parsed.many == 5
    RepoMap(repository, parse=parsed).tags()
    assert parsed.many == 5
    (repository / "lib/use.py").write_text("other()\n")
    found = RepoMap(repository, parse=parsed).tags()
    assert parsed.many == 6
    assert found["lib/use.py"].references == {"other": 1}


@pytest.mark.parametrize("damage", ["cut", "turned", "foreign", "empty", "directory"])
def test_a_damaged_cache_is_as_good_as_none(repository: Path, cache: Path, damage: str) -> None:
    parsed = Counted()
    before = RepoMap(repository, parse=parsed).tags()
    (kept,) = (cache / "maps").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    data = kept.read_bytes()
    if damage == "directory":
        kept.unlink()
        kept.mkdir()
    else:
        turned = data.replace(b"open_store", b"open_stork")
        left = {"cut": data[:-9], "turned": turned, "foreign": b"not ours", "empty": b""}
        kept.write_bytes(left[damage])
    assert RepoMap(repository, parse=parsed).tags() == before
    assert parsed.many == 10


def test_files_that_cannot_be_read_as_text_are_passed_over(repository: Path) -> None:
    (repository / "binary.py").write_bytes(b"def hidden(): ...\n\0\0")
    (repository / "huge.py").write_bytes(b"def enormous(): ...\n" * (LARGEST // 20 + 1))
    (repository / "latin.py").write_bytes("def gr\xf6\xdfe(): ...\n".encode("latin-1"))
    (repository / "broken.py").write_text("def whole(): ...\ndef half(:\nclass (((\n")
    (repository / "forbidden.py").write_text("def secret(): ...\n")
    (repository / "forbidden.py").chmod(0)
    (repository / "pipe.py").unlink(missing_ok=True)
    os.mkfifo(repository / "pipe.py")
    made = RepoMap(repository).made(2_000)
    assert "def whole()" in made.text
    assert "hidden" not in made.text
    assert "enormous" not in made.text
    assert "class Store" in made.text
    if os.geteuid():
        assert "secret" not in made.text


def test_no_link_leads_out(repository: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.py").write_text("def private_thing(): ...\n")
    (repository / "link.py").symlink_to(outside / "private.py")
    (repository / "linked").symlink_to(outside)
    git(repository, "init", "-q")
    for _ in range(2):
        made = RepoMap(repository).made(2_000)
        assert "private_thing" not in made.text
        subprocess.run(["rm", "-rf", str(repository / ".git")], check=True)


def test_what_git_ignores_stays_out_and_nothing_it_configures_is_run(repository: Path) -> None:
    (repository / "made.py").write_text("def generated_thing(): ...\n")
    assert "generated_thing" in RepoMap(repository).made(2_000).text
    git(repository, "init", "-q")
    ran = repository / "ran"
    git(repository, "config", "core.fsmonitor", f"touch {ran}; false")
    (repository / ".gitignore").write_text("made.py\n")
    made = RepoMap(repository).made(2_000)
    assert "generated_thing" not in made.text
    assert "class Store" in made.text
    assert not ran.exists()


def test_files_of_the_chat_and_names_that_were_said_move_ranks(repository: Path) -> None:
    source = RepoMap(repository)
    assert "helper_one" not in source.made(60).text
    assert "helper_one" in source.made(60, said="what does helper_one do?").text
    chatting = source.made(2_000, chat=["lib/store.py"]).text
    assert "lib/store.py" not in chatting
    assert "func RunAll" in chatting


@pytest.mark.parametrize(
    ("refresh", "anew"),
    [("manual", [False, False]), ("files", [False, True]), ("auto", [True, True])],
)
def test_it_stays_as_it_is_until_its_policy_lets_it_be_made_anew(
    repository: Path, refresh: str, anew: list[bool]
) -> None:
    asked = {"chat": (), "said": "", "refresh": refresh}
    source = RepoMap(repository, asked=lambda: Asked(**asked))  # type: ignore[arg-type]
    first = drive(source.text(2_000))
    (repository / "lib/more.py").write_text("def more_to_see(): ...\n")
    assert drive(source.text(2_000)) == first, "nothing was said and no file came in"
    made: list[bool] = []
    for change in ({"said": "run_all"}, {"chat": ("web/app.ts",)}):
        asked |= change
        made.append("more_to_see" in drive(source.text(2_000)))
    assert made == anew
    source.forget()
    assert "more_to_see" in drive(source.text(2_000))
    whole = drive(source.text(2_000))
    assert len(drive(source.text(50))) < len(whole), "it no longer fits"
    assert drive(source.text(2_000)) == whole, "it was made for far less"


def test_a_policy_without_a_map_has_none(repository: Path) -> None:
    assert drive(RepoMap(repository, asked=lambda: Asked(refresh="off")).text(2_000)) == ""
