"""What a plan would do, in numbers: entries that stay, are told and are cleared, and tokens."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast import assistant, user
from holdfast.engine.client import Holdfast, drive
from holdfast.engine.compaction.forecast import messages, outlook
from holdfast.model.log import PartRef, Summary
from holdfast.model.plan import Plan
from holdfast.model.span import Span


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


def test_a_summary_tells_what_it_covers_but_for_what_is_kept(hf: Holdfast) -> None:
    s = hf.session(model="m")
    for n in range(4):
        s.append(user(f"asked {n}"))
        s.append(assistant(f"answered {n}"))
    s.pin(fact="a marker is no message")
    s.append(user("now"))
    plan = Plan(step="summarise", epoch=0, covers=(Span(1, 6), Span(9, 9)), kept=(3,),
                before=900, stays=100, most=200, promised=600)  # fmt: skip
    found = drive(outlook(s.store.log, s.view(), plan))
    assert found.told == (Span(1, 2), Span(4, 6), Span(9, 9))
    assert found.told_messages == 5  # entry 9 is the pin
    assert found.kept_messages == 4
    assert [span.first for span in found.kept] == [3, 7, 10]
    assert found.cleared == ()
    assert found.leaves == 800


def test_what_is_cleared_is_said_by_entry(hf: Holdfast) -> None:
    s = hf.session(model="m")
    for n in range(5):
        s.append(user(f"asked {n}"))
    refs = (PartRef(1, 0), PartRef(2, 0), PartRef(2, 1), PartRef(4, 0))
    plan = Plan(step="prune", epoch=0, clears=refs, before=500, promised=420)
    found = drive(outlook(s.store.log, s.view(), plan))
    assert found.cleared == (Span(1, 2), Span(4, 4))
    assert (found.leaves, found.comes) == (500, 80)
    assert found.told_messages == 0
    assert found.kept_messages == 5


def test_messages_are_counted_without_markers(hf: Holdfast) -> None:
    s = hf.session(model="m")
    for n in range(3):
        s.append(user(f"asked {n}"))
        s.pin(fact=f"fact {n}")
    assert drive(messages(s.store.log, s.id, (Span(1, 6),))) == 3
    assert drive(messages(s.store.log, s.id, (Span(2, 3), Span(6, 6)))) == 1
    assert drive(messages(s.store.log, s.id, ())) == 0
    s.append(Summary(covers=(Span(1, 3),), text="so far"))
    assert drive(messages(s.store.log, s.id, (Span(1),))) == 3
