"""Fragments are named so that they can be gathered, and gathering keeps every one of them."""

from datetime import date
from pathlib import Path

import holdfast
from tools import changelog

ROOT = Path(__file__).resolve().parents[2]


def test_every_fragment_can_be_gathered() -> None:
    assert changelog.problems(ROOT / "changelog.d") == []


def test_the_version_has_an_entry() -> None:
    assert f"\n## {holdfast.__version__} · " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_a_misnamed_and_an_empty_fragment_are_caught(tmp_path: Path) -> None:
    (tmp_path / "stuff.txt").write_text("text")
    (tmp_path / "empty.added.md").write_text("\n")
    assert [line.partition(":")[0] for line in changelog.problems(tmp_path)] == [
        "empty.added.md",
        "stuff.txt",
    ]


def test_gathering_puts_the_newest_release_first_and_removes_the_fragments(tmp_path: Path) -> None:
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n{changelog.NEWEST}\n## 0.1.0 · old\n")
    (folder / "b.fixed.md").write_text("No more\nfalling over.\n")
    (folder / "a.added.md").write_text("A door.\n")
    changelog.gather(tmp_path, "0.2.0", date(2026, 1, 2))
    assert (tmp_path / "CHANGELOG.md").read_text().split("line -->\n")[1] == (
        "\n## 0.2.0 · 2026-01-02\n"
        "\n### Added\n\n- A door.\n"
        "\n### Fixed\n\n- No more falling over.\n"
        "\n## 0.1.0 · old\n"
    )
    assert not list(folder.iterdir())
