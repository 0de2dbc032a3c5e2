"""Every rule of a marker: the words for what breaks it, and the bounds at which nothing does."""

import pytest

from holdfast.core.log.marker_rules import faults, named
from holdfast.model.log import (
    Body,
    Checkpoint,
    Clear,
    Notes,
    PartRef,
    Pin,
    Redo,
    Rewind,
    Shortened,
    Summary,
    Undo,
    Unpin,
)
from holdfast.model.message import Message, Text
from holdfast.model.span import Span

HEAD = 9
KINDS = {1: "summary", 2: "clear", 3: "rewind", 4: "message", 5: "pin", 6: "damaged", "p": "pin",
         "m": "message", "d": "damaged"}  # fmt: skip
BEFORE = "which does not come before it; the last is 9"


def told(marker: Body, head: int = HEAD) -> list[str]:
    return list(faults(marker, head, KINDS))


@pytest.mark.parametrize(
    ("marker", "wrong"),
    [
        (Summary(covers=(Span(1, 9),), text="x"), []),
        (Summary(covers=(Span(1, 10),), text="x"), [f"it names entry 10, {BEFORE}"]),
        (Summary(covers=(Span(0, 9),), text="x"), ["it names entry 0, and the first is 1"]),
        (Summary(covers=(Span(1, 9),), text=" \n"), ["it has no text"]),
        (Summary(covers=(), text="x"),
         ["it covers nothing, or a stretch that ends before it begins"]),
        (Summary(covers=(Span(1, 2), Span(5, 4)), text="x"),
         ["it covers nothing, or a stretch that ends before it begins"]),
        (Summary(covers=(Span(2, 4), Span(6, 7)), text="x", kept=(2, 4, 6, 7)), []),
        (Summary(covers=(Span(2, 4),), text="x", kept=(1, 2, 5)),
         [f"it keeps entry {seq}, which it does not cover" for seq in (1, 5)]),
        (Summary(covers=(Span(1, 4),), text="x", kept=(2,), shortened=(Shortened(2, 5),), asked=2),
         []),
        (Summary(covers=(Span(1, 4),), text="x", kept=(2,), shortened=(Shortened(3, 5),)),
         ["it says how entry 3 is kept, and does not keep it"]),
        (Summary(covers=(Span(1, 4),), text="x", kept=(2,), asked=3),
         ["it says how entry 3 is kept, and does not keep it"]),
        (Summary(covers=(Span(1, 4),), text="x", merges=(1, 6)), []),
        (Summary(covers=(Span(1, 4),), text="x", merges=(2, 4)),
         ["it merges entry 2, which is no Summary", "it merges entry 4, which is no Summary"]),
        (Clear(parts=(PartRef(1, 0), PartRef(9, 3))), []),
        (Clear(parts=(PartRef(10, 0),)), [f"it names entry 10, {BEFORE}"]),
        (Clear(parts=(PartRef(0, 0),)), ["it names entry 0, and the first is 1"]),
        (Clear(parts=(PartRef(1, -1),)), ["it names a part below 0"]),
        (Notes(text="x", upto=9), []),
        (Notes(text="x", upto=10), [f"it names entry 10, {BEFORE}"]),
        (Notes(text=" ", upto=1), ["it has no text"]),
        (Pin(seq=9), []), (Pin(fact="x"), []), (Pin(path="x"), []),
        (Pin(), ["it pins nothing; name an entry, a fact or a path"]),
        (Pin(seq=10), [f"it names entry 10, {BEFORE}"]),
        (Unpin(pin="p"), []), (Unpin(pin="d"), []),
        (Unpin(pin="m"), ["there is no Pin 'm' to end"]),
        (Unpin(pin="gone"), ["there is no Pin 'gone' to end"]),
        (Undo(marker=1), []), (Undo(marker=2), []), (Undo(marker=3), []), (Undo(marker=6), []),
        (Undo(marker=4), ["it names entry 4, which is no Summary, Clear, Rewind or Checkpoint"]),
        (Redo(marker=5), ["it names entry 5, which is no Summary, Clear, Rewind or Checkpoint"]),
        (Redo(marker=10), [f"it names entry 10, {BEFORE}"]),
        (Undo(marker=0), ["it names entry 0, and the first is 1"]),
        (Rewind(to=0), []), (Rewind(to=9), []), (Rewind(to=10), [f"it names entry 10, {BEFORE}"]),
        (Rewind(to=-1), ["it names entry -1, and the first is 1"]),
        (Checkpoint(), []), (Checkpoint(prompt=9), []),
        (Checkpoint(prompt=10), [f"it names entry 10, {BEFORE}"]),
        (Message("user", (Text(""),)), []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_marker_is_said(marker: Body, wrong: list[str]) -> None:
    assert told(marker) == wrong


def test_the_entries_are_named_whose_kind_matters() -> None:
    summary = Summary(covers=(Span(1, 4),), text="x", kept=(2,), merges=(1, 3))
    markers: list[Body] = [summary, Undo(marker=7), Redo(marker=8), Unpin(pin="p"), Pin(seq=2)]
    assert [named(one) for one in markers] == [(1, 3), (7,), (8,), ("p",), ()]
