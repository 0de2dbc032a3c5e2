"""What was undone is not done again by itself; by hand it may be."""

import pytest

from holdfast.core.compaction import summarise
from holdfast.core.compaction.situation import Situation
from holdfast.engine.calls.ask import Question
from holdfast.engine.client import Session
from holdfast.model.log import Clear, PartRef, Summary
from holdfast.model.message import Message, ToolCall, ToolResult
from holdfast.model.span import Spans, within
from tests.properties.ladders import engine, words

MODEL = "claude-sonnet-4-6"


def told(question: Question) -> str:
    return "They read the files one after the other, and went on with care."


def worked(s: Session, turns: int, first: int = 0) -> None:
    """Some turns with a call each."""
    for number in range(first, first + turns):
        s.user(words(number, 1, 0))
        s.append(Message("assistant", (ToolCall(f"c{number}", "read_file", '{"path": "a.py"}'),)))
        s.append(Message("tool", (ToolResult(f"c{number}", words(number, 3, 1)),)))


def covered(s: Session, after: int) -> list[Spans]:
    """What summaries have covered by themselves since an entry; shedding is no summary."""
    bodies = [e.body for e in s.entries() if e.seq > after and isinstance(e.body, Summary)]
    return [body.covers for body in bodies if body.step != "shed" and body.trigger != "manual"]


def undone(s: Session) -> tuple[Spans, int]:
    """A conversation that was compacted, and went on after that was undone."""
    worked(s, 6)
    s.window()
    taken = next(e for e in s.entries() if isinstance(e.body, Summary))
    last = s.undo(taken.seq).seq
    worked(s, 6, first=6)
    s.window()
    assert isinstance(taken.body, Summary)
    return taken.body.covers, last


@pytest.mark.parametrize("policy", ["opencode", "codex", "gemini-cli", "claude-code"])
def test_a_stretch_is_covered_again_by_hand_only(policy: str) -> None:
    with engine(8_192) as hf:
        s = hf.session(model=MODEL, policy=policy, summariser=told)
        covers, last = undone(s)
        inside = range(covers[0].first, covers[-1].last + 1)
        assert not any(within(n, spans) for spans in covered(s, last) for n in inside)
        again = hf.session(model=MODEL, policy=policy, summariser=told)
        worked(again, 6)
        again.window()
        again.undo()
        assert any(within(n, again.plan().covers) for n in inside)


def test_a_result_is_not_cleared_again_by_itself() -> None:
    assert not {PartRef(6, 0)} & cleared_after_undo()


def test_both_are_noticed_when_they_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summarise, "without", lambda spans, gone: spans)
    with engine(8_192) as hf:
        s = hf.session(model=MODEL, policy="opencode")
        covers, last = undone(s)
        assert any(within(covers[0].first, spans) for spans in covered(s, last))
    monkeypatch.setattr(Situation, "gone", frozenset())
    assert PartRef(6, 0) in cleared_after_undo()


def cleared_after_undo() -> set[PartRef]:
    """What is cleared when a window is full in which the clearing of a result was undone."""
    with engine(8_192) as hf:
        s = hf.session(model=MODEL, policy="holdfast")
        worked(s, 14)
        s.append(Clear(parts=(PartRef(3, 0), PartRef(6, 0))))
        last = s.undo().seq
        s.window()
        found = [e.body for e in s.entries() if e.seq > last and isinstance(e.body, Clear)]
        assert found
        return {ref for body in found for ref in body.parts}
