"""What an importer kept is never sent, weighs nothing, and changes nothing that is shown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.core.log.transcript_text import told
from holdfast.core.search.searchable_text import searchable
from holdfast.core.tokens.count import WEIGHED, weigh
from holdfast.engine.client import Holdfast
from holdfast.model.log import Records
from holdfast.model.message import (
    Message,
    Record,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    tool,
    user,
)
from holdfast.testing.contracts.importer import WINDOWS
from holdfast.testing.factories import entry

MARK = "never-to-be-seen"

records = st.builds(
    Record,
    st.sampled_from(["claude-code", "anthropic", "openai"]),
    st.sampled_from(["user", "reasoning", "thinking", "compaction", "tool_use"]),
    st.binary(max_size=40).map(lambda data: MARK.encode() + data),
    st.integers(0, 9),
    st.booleans(),
)
said = st.sampled_from([
    user("Go on."), assistant("Gone."), assistant("Look.", ToolCall("c", "read", "{}")),
    tool(ToolResult("c", "found")), Message("assistant", (Text("a"), Text("b"))),
])  # fmt: skip
stories = st.lists(st.tuples(said, st.lists(records, max_size=3)), min_size=1, max_size=8)


@given(records)
def test_a_record_weighs_nothing_and_says_nothing(record: Record) -> None:
    assert [way(record) for way in (weigh, *WEIGHED.values())] == [0] * (1 + len(WEIGHED))
    assert searchable(record) == ""
    assert MARK not in told(entry(1, Message("user", (Text("a"), record))))


@settings(max_examples=25)
@given(stories, st.lists(records, max_size=2))
def test_a_session_is_the_same_without_its_records(
    story: list[tuple[Message, list[Record]]], last: list[Record]
) -> None:
    with holdfast.open("memory:") as hf:
        plain, full = _session(hf, story, [], kept=False), _session(hf, story, last, kept=True)
        for model, format in WINDOWS:
            one, other = (hf.session(id).preview(model=model) for id in (plain, full))
            request = other.request(format)
            assert request == one.request(format)
            assert MARK not in str(request)
            assert other.tokens == one.tokens
        assert _requests(hf, full) == _requests(hf, plain)
        assert hf.search(MARK) == ()
        assert MARK in str(list(hf.session(full).entries())) or not _any(story, last)


def _session(
    hf: Holdfast, story: list[tuple[Message, list[Record]]], last: list[Record], *, kept: bool
) -> str:
    session = hf.session(model="claude-sonnet-4-6")
    session.user("Begin.")
    for message, some in story:
        parts = (*message.parts, *some) if kept else message.parts
        session.append(Message(message.role, parts))
    if last:
        session.append(Records(records=tuple(last)))
    return session.id


def _requests(hf: Holdfast, id: str) -> list[tuple[int, str, str]]:
    return [(one.seq, one.text, one.status) for one in hf.session(id).ledger().requests]


def _any(story: list[tuple[Message, list[Record]]], last: list[Record]) -> bool:
    return bool(last) or any(some for _, some in story)
