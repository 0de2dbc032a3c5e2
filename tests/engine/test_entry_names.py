"""Whatever name of an entry is printed, every call that takes an entry knows it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.blocking import Session
from holdfast.errors import HoldfastError, InvalidRequest, NotFound
from holdfast.model.log import Handle, Summary
from holdfast.model.message import ToolCall, assistant
from holdfast.model.span import Span

MODEL = "claude-sonnet-4-6"
REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
    "content": [{"type": "text", "text": "It is in login.py."}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 20, "output_tokens": 5},
}  # fmt: skip


@pytest.fixture
def s(tmp_path: Path) -> Any:
    with holdfast.open(tmp_path / "log.db") as hf:
        opened = hf.session(model=MODEL)
        opened.user("Where is the handler?")
        opened.window().request("anthropic")
        opened.reply(REPLY)
        opened.user("And the tests?")
        opened.append(Summary(covers=(Span(1, 1),), text="The handler was looked for."))
        yield opened


CALLS: dict[str, tuple[int, Callable[[Session, Any], Any]]] = {
    "entry": (2, lambda s, name: s.entry(name).seq),
    "seq": (2, lambda s, name: s.seq(name)),
    "view": (2, lambda s, name: s.view(name).last),
    "seen": (2, lambda s, name: [e.seq for e in s.visible(name)]),
    "seen_pages": (2, lambda s, name: [[e.seq for e in page] for page in s.visible_pages(name)]),
    "fork": (2, lambda s, name: s.fork(name).info.fork),
    "explain": (2, lambda s, name: s.explain(name).call.request),  # type: ignore[union-attr]
    "against": (2, lambda s, name: s.explain(2, against=name).difference),
    "why_absent": (1, lambda s, name: s.why_absent(name).marker),
    "recall": (1, lambda s, name: s.recall(name).text),
    "pin": (2, lambda s, name: s.pin(name).body.seq),  # type: ignore[union-attr]
    "undo": (4, lambda s, name: s.undo(name).body.marker),  # type: ignore[union-attr]
    "rewind": (2, lambda s, name: s.rewind(name).body.to),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("form", ["#{seq}", "{seq}", "int", "id", "handle"])
@pytest.mark.parametrize("call", CALLS)
def test_every_call_knows_every_name_of_an_entry(s: Session, call: str, form: str) -> None:
    seq, ask = CALLS[call]
    expected = ask(s.fork(), s.entry(seq).id)
    entry = s.entry(seq)
    part = str(Handle(entry.id, 0)) if call != "recall" else f"prt_{entry.id}"  # not only a part
    forms = {"int": seq, "id": entry.id, "handle": part}
    assert ask(s.fork(), forms.get(form, form.format(seq=seq))) == expected


@pytest.mark.parametrize("form", ["#{seq}", "{seq}", "int", "id", "handle"])
def test_redo_retention_and_unpin_too(s: Session, form: str) -> None:
    def name(seq: int) -> Any:
        entry = s.entry(seq)
        forms = {"int": seq, "id": entry.id, "handle": str(Handle(entry.id, 0))}
        return forms.get(form, form.format(seq=seq))

    s.undo(4)
    s.redo(name(4))
    with pytest.raises(InvalidRequest, match="no frozen ledger beside it"):  # it is found
        s.retention(name(4))
    s.pin(2)
    if form in ("int", "#{seq}", "{seq}"):
        s.unpin(name(2))
        assert s.view().folded.pins == ()


@pytest.mark.parametrize("name", [99, "#99", "nope", -1, "#", "prt_nope.0", "#1x", "٣"])
@pytest.mark.parametrize("call", CALLS)
def test_a_name_that_leads_nowhere_is_told_as_such(s: Session, call: str, name: Any) -> None:
    head = s.refresh().head
    with pytest.raises(InvalidRequest):
        CALLS[call][1](s, name)
    assert s.refresh().head == head


@pytest.mark.parametrize(
    "call", ["entry", "seq", "why_absent", "explain", "against", "pin", "undo"]
)
def test_there_is_no_entry_0(s: Session, call: str) -> None:
    for name in (0, "0", "#0"):
        with pytest.raises(NotFound, match="entry"):
            CALLS[call][1](s, name)


def test_the_very_beginning_can_be_gone_back_to(s: Session) -> None:
    assert s.fork(0).info.head == 0
    s.rewind("#0")
    assert list(s.visible()) == []


def test_a_handle_knows_an_entry_that_another_writer_has_appended(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        first, second = hf.session("own", create=True), hf.session("own", create=True)
        first.user("one")
        first.append(assistant(ToolCall("c", "look", "{}")))
        assert second.entry("#2").seq == 2
        with pytest.raises(HoldfastError):
            second.entry("#3")
