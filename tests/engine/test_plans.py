"""A compaction is planned with what the project wrote down, applied once, undone and done again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.blocking import Session
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.engine.compaction.plans import reviewed, taken
from holdfast.engine.knowledge.instruction_files import InstructionReader
from holdfast.errors import Ambiguous, Conflict, InvalidRequest, NotFound
from holdfast.model.log import Clear, PartRef, Pin, Redo, Undo
from holdfast.model.message import assistant
from tests.knowledge.projects import approve


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as opened:
        yield opened


def worked(hf: Holdfast, turns: int = 12, **given: Any) -> Session:
    """A session with a few turns of some length."""
    session = hf.session(model="claude-sonnet-4-6", **given)
    for turn in range(turns):
        session.user(f"Question {turn} about src/part_{turn}.py, please.")
        session.append(assistant(f"Answer {turn}: " + f"the part number {turn} is fine. " * 60))
    return session


def test_what_somebody_asks_for_happens_in_a_large_window_too(hf: Holdfast) -> None:
    session = worked(hf)
    plan = session.plan()
    assert plan.step == "summarise"
    assert plan.covers
    assert taken(plan) < plan.before - plan.stays


def test_a_short_session_has_nothing_to_compact_and_says_so(hf: Holdfast) -> None:
    session = hf.session(model="claude-sonnet-4-6")
    session.user("hello")
    with pytest.raises(InvalidRequest, match="nothing to compact"):
        session.plan()
    with pytest.raises(InvalidRequest, match="which makes no summaries; name another"):
        worked(hf).plan(policy="gemini-cli@seed")


@pytest.mark.parametrize("file", ["AGENTS.md", "CLAUDE.md", "GEMINI.md"])
def test_the_project_says_what_a_summary_is_to_dwell_on(
    hf: Holdfast, tmp_path: Path, file: str
) -> None:
    (tmp_path / file).write_text("# Style\nTabs.\n# Compact instructions\nKeep <focus> ports.\n")
    approve(InstructionReader(tmp_path), file)
    asked: list[Any] = []

    def summariser(question: Any) -> str:
        asked.append(question)
        return ""

    session = worked(hf, directory=tmp_path, summariser=summariser)
    session.plan(focus="And the names.")
    assert "And the names.\n\nKeep &lt;focus> ports." in asked[0].system
    assert "Tabs." not in asked[0].system


def test_a_file_that_nobody_approved_is_not_followed(hf: Holdfast, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Compact instructions\nKeep the ports.\n")
    asked: list[Any] = []

    def summariser(question: Any) -> str:
        asked.append(question.system + question.prompt)
        return "The user asks about parts, one after the other, and each is fine."

    session = hf.session(model="gpt-4", directory=tmp_path, summariser=summariser)
    for turn in range(60):
        session.user(f"Question {turn}, please.")
        session.append(assistant(f"Answer {turn}: " + "this part is fine. " * 60))
    session.user("And now?")
    session.window()
    assert asked
    assert not [text for text in asked if "Keep the ports" in text]


def test_an_instruction_file_that_must_not_be_read_is_passed_over(
    hf: Holdfast, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Compact instructions\nsecret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "AGENTS.md").symlink_to(outside)
    (tmp_path / "in" / "CLAUDE.md").mkdir()
    assert worked(hf, directory=tmp_path / "in").plan().summary
    assert worked(hf, directory=tmp_path / "gone").plan().summary


def test_a_plan_that_another_marker_overtook_changes_nothing(hf: Holdfast) -> None:
    session = worked(hf)
    plan = session.plan()
    session.pin(fact="the port is 8080")
    before = session.view().spans
    with pytest.raises(Conflict, match="nothing was done; do it again"):
        session.apply(plan)
    assert session.view().spans == before
    session.apply(session.plan())


def test_undone_and_done_again_as_often_as_one_likes(hf: Holdfast) -> None:
    session = worked(hf)
    whole = session.view().folded.visible
    marker = session.apply(session.plan())
    compacted = session.view().folded.visible
    for _ in range(2):
        assert isinstance(session.undo().body, Undo)
        assert session.view().folded.visible == whole
        redone = session.redo().body
        assert isinstance(redone, Redo)
        assert redone.marker == marker.seq
        assert session.view().folded.visible == compacted


def test_of_several_the_one_undone_last_is_done_again_first(hf: Holdfast) -> None:
    session = worked(hf)
    first = session.append(Clear(parts=(PartRef(2, 0),)))
    second = session.append(Clear(parts=(PartRef(4, 0),)))
    session.undo(second.seq)
    session.undo(f"#{first.seq}")
    assert [session.redo().body.marker, session.redo().body.marker] == [first.seq, second.seq]  # type: ignore[union-attr]
    with pytest.raises(InvalidRequest, match="nothing that was undone"):
        session.redo()
    with pytest.raises(InvalidRequest, match=f"entry {first.seq} was not undone; undone are none"):
        session.redo(first.seq)


def test_what_cannot_be_undone_is_told_with_what_can(hf: Holdfast) -> None:
    session = worked(hf)
    with pytest.raises(InvalidRequest, match="no compaction to undo"):
        session.undo()
    marker = session.append(Clear(parts=(PartRef(2, 0),)))
    with pytest.raises(
        InvalidRequest, match=f"entry 3 is no compaction in force; in force is {marker.seq}"
    ):
        session.undo(3)


def test_an_entry_that_is_not_there_is_told_with_the_nearest(hf: Holdfast) -> None:
    session = worked(hf)
    with pytest.raises(NotFound) as told:
        session.plan(since=999)
    assert told.value.nearest == ("24",)
    known = session.entry(3).id
    with pytest.raises(NotFound) as told:
        session.plan(upto=known[:-1] + "~")
    assert told.value.nearest[0][:20] == known[:20]
    with pytest.raises(NotFound):
        session.pin("0")


def test_a_handle_that_is_none_is_told_with_the_nearest(hf: Holdfast) -> None:
    session = worked(hf)
    known = session.entry(2).id
    for handle, near in (
        (f"prt_{known[:-2]}.0", f"prt_{known[:20]}"),
        (f"prt_{known}.7", f"prt_{known}.0"),
        ("#99", "#24"),
    ):
        with pytest.raises(NotFound) as told:
            session.recall(handle)
        assert told.value.nearest[0].startswith(near)


def test_an_edited_summary_is_held_against_the_ledger_again(hf: Holdfast) -> None:
    session = worked(hf)
    plan = session.plan()
    plan.summary = "The file src/invented.py was changed, and `make all` exits with 0."
    drive(reviewed(session.store.log, session.view(), plan))
    assert {one.rule for one in plan.objections} >= {"invented-path"}
    assert plan.report
    plan.summary = "Question 3 was about src/part_3.py, and part number 3 is fine."
    assert drive(reviewed(session.store.log, session.view(), plan)).objections == ()


def test_a_pin_is_made_once_and_ended_by_any_of_its_names(hf: Holdfast, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("port 8080")
    session = worked(hf, directory=tmp_path)
    for given in ({"what": 3}, {"fact": "the port is 8080"}, {"path": "notes.md"}):
        assert isinstance(session.pin(**given).body, Pin)  # type: ignore[arg-type]
        with pytest.raises(InvalidRequest, match="is pinned already"):
            session.pin(**given)  # type: ignore[arg-type]
    (tmp_path / "notes.md").unlink()
    session.pin(fact="the port is open")
    with pytest.raises(Ambiguous):
        session.unpin("the port")
    with pytest.raises(NotFound) as told:
        session.unpin("note.md")
    assert told.value.nearest == ("notes.md",)
    for name in ("#3", "the port is 8080", "notes.md", "the port is o"):
        session.unpin(name)
    assert session.view().folded.pins == ()


def test_a_file_that_cannot_be_pinned_is_refused_with_a_reason(
    hf: Holdfast, tmp_path: Path
) -> None:
    session = worked(hf, directory=tmp_path)
    with pytest.raises(InvalidRequest, match="cannot be pinned"):
        session.pin(path="absent.md")
