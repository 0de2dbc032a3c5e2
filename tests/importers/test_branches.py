"""Two files that tell one session differently, and two sessions that have one name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.doors import Holdfast
from tests.importers.aider_writing import BANNER, START, TOKENS, asked
from tests.importers.looking import bring, calls_of, only, words
from tests.importers.writing import Transcript, text


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


def branch(end: str, many: int) -> Transcript:
    """A beginning that both have, and an end of its own."""
    told = Transcript()
    for number in range(4):
        told.user(f"Shared {number}.")
    for number in range(many):
        told.user(f"{end} {number}.", uuid=f"{end}-{number}")
        told.reply(f"msg_{end}_{number}", text("Yes."))
    return told


def test_copies_that_part_are_two_sessions_and_are_written_once(
    hf: Holdfast, tmp_path: Path
) -> None:
    new = []
    for many in (3, 4, 4, 6):
        for end in ("left", "right"):
            path = branch(end, many).write(tmp_path / end)
            (report,) = bring(hf, path)
            new.append(report.entries)
    assert new == [10, 6, 2, 2, 0, 0, 4, 4]
    ends = sorted(words(hf.session(one.id))[-2] for one in hf.every_session())
    assert ends == ["left 5.", "right 5."]
    assert all(len(words(hf.session(one.id))) == 16 for one in hf.every_session())
    for place in ("left-copy", "right-copy"):
        (report,) = bring(hf, branch(place[:-5], 6).write(tmp_path / place))
        assert report.entries == 0


def test_the_same_file_told_differently_is_a_rewind(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, branch("left", 2).write(tmp_path / "p"))
    bring(hf, branch("right", 2).write(tmp_path / "p"))
    assert words(only(hf))[-2] == "right 1."


def test_a_session_of_the_same_name_is_not_mixed_with_one_from_an_export(tmp_path: Path) -> None:
    paths = []
    for project in ("one", "two"):
        path = tmp_path / project / ".aider.chat.history.md"
        path.parent.mkdir()
        begun = f"{START}{BANNER}{asked(f'Begin {project}.')}"
        path.write_text(f"{begun}\nThis is {project}.\n\n{TOKENS}\n")
        paths.append(path)
    portable = tmp_path / "one.ndjson"
    with holdfast.open(tmp_path / "first.db") as first:
        bring(first, paths[0])
        first.export(only(first).id, file=portable)
    with holdfast.open(tmp_path / "second.db") as second:
        bring(second, portable)
        bring(second, paths[1])
        found = [second.session(one.id) for one in second.every_session()]
        told = sorted(words(one)[0] for one in found)
        assert told == ["Begin one.", "Begin two."]
        assert [len(calls_of(second, one)) for one in found] == [1, 1]
        assert [bring(second, path)[0].entries for path in (portable, *paths)] == [0, 0, 0]
        assert len(list(second.every_session())) == 2
