"""Two files that tell one session differently, and two sessions that have one name."""

from __future__ import annotations

from pathlib import Path

import holdfast
from holdfast.engine.client import Holdfast
from tests.importers.aider_writing import BANNER, START, TOKENS, asked
from tests.importers.looking import bring, calls_of, only, words
from tests.importers.writing import Transcript, text


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


def aiders(tmp_path: Path, project: str, *lines: str) -> Path:
    path = tmp_path / project / ".aider.chat.history.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{START}{BANNER}{asked('Mend it:')[:-1]}" + "\n".join(lines))
    return path


def test_a_reply_that_grew_in_its_text_is_written_again(hf: Holdfast, tmp_path: Path) -> None:
    (first,) = bring(hf, aiders(tmp_path, "p", "", "One alpha."))
    (second,) = bring(hf, aiders(tmp_path, "p", "", "One alpha.", "Two bravo."))
    (third,) = bring(hf, aiders(tmp_path, "p", "", "One alpha."))
    assert (first.entries, second.entries, third.entries) == (2, 2, 0)
    assert "Two bravo." in words(only(hf))[-1]


def test_files_of_one_name_that_begin_alike_stay_apart(hf: Holdfast, tmp_path: Path) -> None:
    """Though their first messages have the same id, as Aider's of the same second have."""
    new = []
    for end in ("", "\n", "\n\n"):
        for project in ("a", "b"):
            lines = (f"\n#### issue {project}  ", "", f"This is {project}.{end}")
            new.append(bring(hf, aiders(tmp_path, project, *lines))[0].entries)
    assert new == [2, 2, 0, 0, 0, 0]
    found = sorted(words(hf.session(one.id))[0] for one in hf.every_session())
    assert found == ["Mend it:\nissue a", "Mend it:\nissue b"]


def test_a_branch_goes_on_though_its_first_own_message_grew(hf: Holdfast, tmp_path: Path) -> None:
    def told(name: str, *replied: str) -> Path:
        made = branch(name, 0)
        for text_of in replied:
            made.reply(f"msg_{name}", text(text_of))
        return made.write(tmp_path / name)

    left, right = told("left", "Left."), told("right", "Right.")
    bring(hf, left)
    bring(hf, right)
    for _ in range(2):
        bring(hf, told("right", "Right.", "And more."))
        bring(hf, told("left", "Left.", "Left too."))
    both = sorted(words(hf.session(one.id)) for one in hf.every_session())
    assert [one[-1] for one in both] == ["Left. Left too.", "Right. And more."]
    assert [one.compactions for one in bring(hf, left, right)] == [0, 0]


def test_a_boundary_that_waits_for_its_summary_is_one_compaction(
    hf: Holdfast, tmp_path: Path
) -> None:
    story = branch("left", 1)
    story.compact("They went on.")
    story.user("And then?")
    many = len(story.lines)
    reports = [bring(hf, story.write(tmp_path / "p", upto))[0] for upto in range(1, many + 1)]
    assert sum(one.compactions for one in reports) == 1
    assert words(only(hf)) == ["Σ They went on.", "And then?"]


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
