"""Windows through the doors: what fits, what is told, what can be explained."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.engine.client import Holdfast, drive
from holdfast.engine.inspect.explain import compare, rebuild
from holdfast.errors import AssumedModel, InvalidRequest, NotFound, OverBudget, Refused
from holdfast.model.log import Context, Pin, Summary
from holdfast.model.message import Message, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.span import Span
from tests.policies import SHED
from tests.properties.histories import opened

REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 40, "output_tokens": 3, "cache_read_input_tokens": 10},
}


REPLIES: dict[str, dict[str, Any]] = {
    "anthropic": REPLY,
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "model": "claude-sonnet-4-6",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
            }
        ],
        "usage": {
            "input_tokens": 50,
            "input_tokens_details": {"cached_tokens": 10},
            "output_tokens": 3,
        },
    },
    "openai-chat": {
        "id": "chatcmpl_1",
        "object": "chat.completion",
        "model": "claude-sonnet-4-6",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Done."},
            }
        ],
        "usage": {
            "prompt_tokens": 50,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 10},
        },
    },
    "gemini": {
        "responseId": "r1",
        "modelVersion": "claude-sonnet-4-6",
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "Done."}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 50,
            "cachedContentTokenCount": 10,
            "candidatesTokenCount": 3,
        },
    },
}


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with opened(200_000) as made:
        yield made


def test_the_example_of_the_readme(hf: Holdfast) -> None:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("Fix the login handler")
    window = s.window(system="You are terse.", tools=[{"name": "sh", "input_schema": {}}])
    assert list(window.sections) == ["tools", "system", "current"]
    request = window.request("anthropic")
    assert request["model"] == "claude-sonnet-4-6"
    assert request["messages"][-1]["role"] == "user"
    entry = s.reply(REPLY)
    assert entry.body == holdfast.assistant("Done.") or entry.body.text == "Done."  # type: ignore[union-attr]
    (call,) = drive(hf.engine.store.calls.calls(s.id))
    assert (call.usage.input, call.usage.cache_read, call.usage.output) == (40, 10, 3)
    assert call.entry == entry.id
    assert call.request_hash


def test_a_session_knows_what_it_has_cost(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        assert s.cost == 0
        s.user("hi")
        s.window().request("anthropic")
        s.reply({**REPLY, "usage": {"input_tokens": 1_000_000, "output_tokens": 1_000_000}})
        spent = s.cost
        assert spent > 1
        assert hf.session(s.id).cost == spent


@pytest.mark.parametrize("format", ["anthropic", "openai-responses", "openai-chat", "gemini"])
def test_a_past_request_can_be_rebuilt_to_the_byte(hf: Holdfast, format: str) -> None:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("one")
    told: dict[str, Any] = {
        "system": "Be brief.",
        "instructions": "Use tabs.",
        "context": {"cwd": "/w"},
    }
    s.window(**told).request(format, max_tokens=77)
    s.reply(REPLIES[format])
    s.user("two")
    s.append(Summary(covers=(Span(1, 2),), text="so far"))
    (call,) = drive(hf.engine.store.calls.calls(s.id))
    again = drive(rebuild(s._inner, call))
    assert again.matches
    explained = s.explain(call.entry)
    assert explained.matches is True
    assert explained.call == call
    assert sum(line.tokens for line in explained.lines) == pytest.approx(50, abs=3)


@pytest.mark.seed("000", 62)
def test_explain_says_where_each_block_is_from(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.user("one")
    s.append(Message("assistant", (Text("two"),)))
    s.append(Summary(covers=(Span(1, 2),), text="sum", reason="asked to"))
    s.user("three")
    told = s.explain(system="sys")
    assert [(line.section, line.rule) for line in told.lines] == [
        ("system", "given"),
        ("summary", "stands for what it covers"),
        ("current", "just asked"),
    ]
    assert "would be sent now" in s.explain().note
    (gone,) = told.absent
    assert (gone.seq, gone.marker) == (1, 3)
    assert "asked to" in gone.why


def test_each_marker_that_hides_something_is_told_once(hf: Holdfast) -> None:
    s = hf.session(model="m")
    for text in ("one", "two", "three"):
        s.user(text)
    s.append(Summary(covers=(Span(2, 2),), text="of one"))
    s.user("four")
    s.append(Summary(covers=(Span(1, 4),), text="of all"))
    assert [(gone.seq, gone.marker) for gone in s.explain_now().absent] == [(1, 6)]


def test_two_windows_are_compared(hf: Holdfast) -> None:
    s = hf.session(model="m")
    for text in ("one", "two", "three"):
        s.user(text)
        s.window(system="sys" if text != "three" else "other").request("anthropic")
        s.reply({**REPLY, "id": f"msg_{text}"})
    calls = [drive(rebuild(s._inner, c)) for c in drive(hf.engine.store.calls.calls(s.id))]
    same = compare(calls[0], calls[1])
    assert same.lost == 0
    changed = compare(calls[1], calls[2])
    assert not changed.same
    assert changed.block == 0
    assert changed.lost == calls[2].call.usage.prompt  # in the tokens that were reported


def test_explain_says_what_was_not_sent_to_this_provider(hf: Holdfast) -> None:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("hi")
    s.append(Message("assistant", (Reasoning("only thought, never signed"),)))
    s.user("go on")
    s.window().request("anthropic")
    told = s.explain(s.reply(REPLY).id)
    rules = {line.seq: line.rule for line in told.lines}
    assert rules[2] == "not sent: only its maker may see it"
    assert rules[1] == "visible"


def test_a_request_of_too_many_bytes_is_refused(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.user("x" * 50_000)
    made = s.window()
    made.window = replace(made.window, budget=replace(made.window.budget, request_bytes=40_000))
    with pytest.raises(Refused, match="bytes"):
        made.request("openai-responses")


def test_a_fork_can_explain_what_was_said_before_it(hf: Holdfast) -> None:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("hi")
    s.window(system="Be brief.").request("anthropic")
    reply = s.reply(REPLY)
    other = s.fork()
    other.user("go on")
    told = other.explain(reply.id)
    assert told.matches is True
    assert other.snapshot().used_tokens == other.explain_now().tokens
    assert other.snapshot().sent_tokens == 50
    assert next(line.section for line in other.explain_now().lines) == "system"
    assert "no reply" in other.explain("1").note


def test_explain_says_where_two_requests_part(hf: Holdfast) -> None:
    s = hf.session(model="m")
    replies = []
    for system in ("sys", "sys", "other"):
        s.user("go on")
        s.window(system=system).request("anthropic")
        replies.append(s.reply({**REPLY, "id": f"msg_{len(replies)}"}))
    same = s.explain(replies[1].id, against=replies[0].id).difference
    parted = s.explain(replies[2].id, against=replies[1].id).difference
    assert same is not None
    assert same.lost == 0
    assert parted is not None
    assert parted.lost > 0


def test_a_snapshot_is_of_the_last_call_and_of_the_whole_session(hf: Holdfast) -> None:
    s = hf.session(model="m")
    assert s.snapshot().last_call_usage is None
    for turn in range(2):
        s.user("go on")
        s.window().request("anthropic")
        s.reply({**REPLY, "id": f"msg_{turn}"})
    told = s.snapshot()
    assert told.context_window_size == 200_000
    used = s.explain_now().tokens
    assert (told.used_tokens, told.remaining_tokens) == (used, 200_000 - used)
    assert told.sent_tokens == 50
    assert told.used_percentage == 0.0
    assert (told.total_input_tokens, told.total_output_tokens) == (100, 6)
    assert told.last_call_usage is not None
    assert told.last_call_usage.cache_read_tokens == 10


def test_what_has_changed_around_is_told_once_at_the_tail(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.user("one")
    first = s.window(context={"cwd": "/a", "date": "Monday"})
    s.window(context={"cwd": "/a", "date": "Monday"})
    second = s.window(context={"cwd": "/b", "date": "Monday"})
    texts = [b.parts[0].text for b in second.blocks]  # type: ignore[union-attr]
    assert texts[: len(first.blocks)] == [b.parts[0].text for b in first.blocks]  # type: ignore[union-attr]
    assert "<cwd>/b</cwd>" in texts[-1]
    assert "date" not in texts[-1]
    assert sum(isinstance(e.body, Context) for e in s.entries()) == 2
    s.append(Summary(covers=(Span(1, s.info.head),), text="sum"))
    s.user("two")
    third = s.window(context={"cwd": "/b", "date": "Monday"})
    (context,) = [b for b in third.blocks if b.section == "context"]
    assert "<cwd>/b</cwd>" in context.parts[0].text  # type: ignore[union-attr]
    rest = [b for b in third.blocks if b is not context]
    assert not any("<cwd>" in b.parts[0].text for b in rest)  # type: ignore[union-attr]


def test_a_preview_writes_nothing(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.user("word " * 300)
    for _ in range(40):
        s.append(Message("assistant", (Text("word " * 600),)))
        s.user("more")
    with opened(8_192) as small:
        t = small.session(model="m")
        t.append_all([entry.body for entry in s.entries()])
        head = t.refresh().head
        shown = t.preview(system="x", context={"cwd": "/a"})
        assert t.refresh().head == head
        assert shown.over == 0
        written = t.window(system="x", context={"cwd": "/a"})
        assert [b.parts for b in written.blocks] == [b.parts for b in shown.blocks]
        assert t.refresh().head > head


def test_a_full_window_sheds_once_and_then_has_room() -> None:
    with opened(8_192) as hf:
        s = hf.session(model="m", policy=SHED)
        for i in range(60):
            s.user(f"question {i}")
            s.append(Message("assistant", (Text("word " * 200),)))
        s.user("the last question")
        first = s.window()
        assert first.over == 0
        markers = [e for e in s.entries() if isinstance(e.body, Summary)]
        assert [m.body.step for m in markers] == ["shed"]  # type: ignore[union-attr]
        s.append(Message("assistant", (Text("short"),)))
        s.user("again")
        s.window()
        assert sum(isinstance(e.body, Summary) for e in s.entries()) == 1


def test_a_long_turn_sheds_its_own_beginning_but_not_what_was_asked() -> None:
    with opened(8_192) as hf:
        s = hf.session(model="m")
        s.user("do the long thing")
        for i in range(40):
            s.append(Message("assistant", (ToolCall(f"c{i}", "sh", "{}"),)))
            s.append(Message("tool", (ToolResult(f"c{i}", "line of output\n" * 60),)))
        made = s.window()
        assert made.over == 0
        assert any(
            isinstance(p, Text) and p.text == "do the long thing"
            for b in made.blocks
            for p in b.parts
        )
        made.request("anthropic")
        made.request("openai-responses")


def test_what_cannot_fit_is_told_with_numbers_and_what_to_do() -> None:
    with opened(2_048) as hf:
        s = hf.session(model="m")
        s.user("word " * 4_000)
        with pytest.raises(OverBudget, match=r"entry 1.*shorten"):
            s.window()
        t = hf.session(model="m")
        t.user("hi")
        with pytest.raises(OverBudget, match="system prompt"):
            t.window(system="word " * 4_000)


def test_bad_input_is_answered_clearly(hf: Holdfast) -> None:
    s = hf.session()
    with pytest.raises(InvalidRequest, match="no model"):
        s.window()
    s = hf.session(model="m")
    s.user("hi")
    with pytest.raises(NotFound, match="openai-chat"):
        s.window().request("openai-chats")
    with pytest.raises(InvalidRequest, match="reply"):
        s.reply(object())
    with pytest.raises(InvalidRequest, match="wire format"):
        s.reply({"hello": "world"})
    with pytest.raises(NotFound, match="policy"):
        s.window(policy="aidre")


def test_a_request_that_would_be_refused_is_never_handed_out(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.user("hi")
    made = s.window()
    with pytest.raises(Refused, match="anthropic would refuse"):
        made.request("anthropic", messages=[{"role": "assistant", "content": "first"}])


def test_pins_are_in_every_window(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.append(Pin(fact="Never touch production."))
    s.user("one")
    for _ in range(3):
        made = s.window()
        assert "Never touch production." in str(
            [b.parts for b in made.blocks if b.section == "pins"]
        )
        s.append(Summary(covers=(Span(1, s.refresh().head),), text="sum"))
        s.user("next")


def test_tools_of_every_format_are_understood(hf: Holdfast) -> None:
    s = hf.session(model="m")
    s.user("hi")
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for tool in (
        {"name": "t", "description": "d", "input_schema": schema},
        {"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}},
        {"type": "function", "name": "t", "description": "d", "parameters": schema},
    ):
        (read,) = s.window(tools=[tool]).window.tools
        assert (read.name, read.description, read.schema) == ("t", "d", schema)


def test_a_misspelt_model_does_not_cut_the_conversation(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for _ in range(30):
            s.user("word " * 2_000)
            s.append(Message("assistant", (Text("ok"),)))
        s.user("go on")
        head, whole = s.refresh().head, s.window().tokens
        with pytest.warns(AssumedModel), pytest.raises(OverBudget, match="sonet"):
            s.window(model="sonet")
        assert s.refresh().head == head
        assert s.window().tokens == whole
