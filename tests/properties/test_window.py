"""Laws of the window, over histories as they really come, in every wire format."""

import os
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.log.boundary import is_request
from holdfast.core.log.fold import in_force
from holdfast.core.window.explain import absent
from holdfast.core.window.repair import Limits, Repaired, can_be_sent, mended, repair
from holdfast.engine.client import Session
from holdfast.engine.plugins import codec
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import OverBudget
from holdfast.model import wire
from holdfast.model.message import Media, Message, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.window import Block, Window
from tests.properties.around import AROUND, CLAUDE, SHARE, answer, kept
from tests.properties.histories import FORMATS, histories, live, opened, replies, requests, said

EXAMPLES = int(os.environ.get("HOLDFAST_HISTORIES", "40"))
WINDOWS = st.sampled_from([2_048, 8_192, 32_768, 200_000])
MODELS = st.sampled_from(["claude-sonnet-4-6", "gpt-5.5", "gemini-3.1-pro"])
TOOL = {"name": "sh", "description": "run", "input_schema": {"type": "object", "properties": {}}}
lawful = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)


def prepared(s: Session, model: str, **more: Any) -> PreparedWindow | None:
    try:
        return s.window(system="be brief", tools=[TOOL], model=model, **more)
    except OverBudget:
        return None


@lawful
@given(histories, WINDOWS, MODELS)
def test_every_request_is_one_that_the_provider_accepts(
    history: list[Any], window: int, model: str
) -> None:
    """Law 1, and the validator of each format: `request` raises where a rule is broken."""
    with opened(window) as hf:
        s = hf.session(model=model)
        live(s, history)
        s.user("go on")
        made = prepared(s, model)
        if made:
            for format in FORMATS:
                made.request(format)


@lawful
@given(histories, said, WINDOWS, MODELS)
def test_what_was_just_asked_stays_word_for_word(
    history: list[Any], asked: str, window: int, model: str
) -> None:
    """Law 2: or it is told that it does not fit."""
    with opened(window) as hf:
        s = hf.session(model=model)
        live(s, history)
        s.user(f"just asked: {asked}")
        made = prepared(s, model)
        if made:
            assert made.over == 0
            wanted = f"just asked: {asked}".encode("utf-16", "surrogatepass").decode(
                "utf-16", "replace"
            )
            texts = [p.text for b in made.blocks for p in b.parts if isinstance(p, Text)]
            assert any(text == wanted for text in texts)


@lawful
@given(histories, WINDOWS, MODELS)
def test_every_entry_is_in_the_window_or_a_marker_says_why_not(
    history: list[Any], window: int, model: str
) -> None:
    """Law 6."""
    with opened(window) as hf:
        s = hf.session(model=model)
        live(s, history)
        s.user("go on")
        made = prepared(s, model)
        if not made:
            return
        shown = {block.seq for block in made.blocks}
        log = list(s.entries())
        standing = in_force([entry for entry in log if not entry.is_message])
        for entry in log:
            if not entry.is_message or entry.seq in shown:
                continue
            if _says_nothing(entry.body) or _only_results(entry.body):
                continue  # left out by the repair, which states it
            assert absent(entry.seq, None, standing).marker, entry


def _says_nothing(message: Any) -> bool:
    return not any(not isinstance(p, Text) or p.text.strip() for p in message.parts)


def _only_results(message: Any) -> bool:
    return message.role == "tool"  # results move behind their calls, under one block


@lawful
@given(st.lists(st.tuples(histories, AROUND), min_size=1, max_size=4), WINDOWS, SHARE)
def test_instructions_pins_and_tools_are_the_same_after_every_compaction(
    turns: list[tuple[list[Any], dict[str, Any]]], window: int, durable: bool
) -> None:
    """Law 7: what was told last is there, in its section or at the tail, and nothing after it."""
    with kept(window, durable) as hf:
        s = hf.session(model=CLAUDE)
        s.append(_pin())
        for history, told in turns:
            live(s, _compactions(history))
            s.user("go on")
            made = prepared(s, CLAUDE, **told)
            if made:
                newest = _about_instructions(made)
                wanted = told.get("instructions", "no longer applies")
                assert wanted in newest[-1] if newest else "instructions" not in told
                assert "Never touch production." in str(_texts(made, "pins"))
                assert _texts(made, "system") == ["be brief"]
                assert [tool.name for tool in made.window.tools] == [TOOL["name"]]
                answer(s, made)


def _compactions(history: list[Any]) -> list[Any]:
    """Summaries as they are made, from the beginning on; what is cleared by hand is gone."""
    steps: list[Any] = []
    for step in history:
        kind = step[0] if isinstance(step, tuple) else ""
        if kind not in ("window", "clear"):
            steps.append(("summary", 1, step[2]) if kind == "summary" else step)
    return steps


TOLD = ("The section 'instructions'", "These instructions apply", "The instructions have changed")
"""How a change of the instructions is told at the tail."""


def _about_instructions(made: PreparedWindow) -> list[str]:
    return [
        part.text
        for block in made.blocks
        for part in block.parts
        if isinstance(part, Text)
        and (block.section == "instructions" or any(said in part.text for said in TOLD))
    ]


def _pin() -> Any:
    from holdfast.model.log import Pin

    return Pin(fact="Never touch production.")


def _texts(made: PreparedWindow, section: str) -> list[str]:
    return [
        p.text for b in made.blocks if b.section == section for p in b.parts if isinstance(p, Text)
    ][:1]


@lawful
@given(histories, st.lists(requests, min_size=1, max_size=3), st.sampled_from(FORMATS))
def test_without_a_new_marker_what_was_cached_stays_a_prefix(
    history: list[Any], more: list[Message], format: str
) -> None:
    """Law 8."""
    with opened(200_000) as hf:
        s = hf.session(model="gpt-5.5")
        live(s, history)
        s.user("first")
        before = prepared(s, "gpt-5.5")
        epoch = s.view().folded.epoch
        s.append(Message("assistant", (Text("a reply"),)), provider="openai", model="gpt-5.5")
        for request in more:
            if is_request(request):
                s.append(request)
        s.user("second")
        after = prepared(s, "gpt-5.5")
        assert before is not None
        assert after is not None
        if s.view().folded.epoch == epoch:
            old, new = _blocks(before, format), _blocks(after, format)
            assert before.window.breakpoints[-1] == len(before.blocks) - 1
            assert new[: len(old)] == old


@lawful
@given(histories, replies(), st.lists(replies(), min_size=1, max_size=2), st.sampled_from(FORMATS))
def test_a_reply_behind_a_reply_changes_nothing_that_was_sent(
    history: list[Any], sent: dict[str, Any], more: list[dict[str, Any]], format: str
) -> None:
    """Law 8, where no user speaks in between: only the line that asked to go on is gone."""
    with opened(200_000) as hf:
        s = hf.session(model="gpt-5.5")
        live(s, history)
        s.user("first")
        live(s, [sent])
        before = prepared(s, "gpt-5.5")
        epoch, waits = s.view().folded.epoch, bool(sent["say"].calls)
        live(s, more)
        s.user("second")
        after = prepared(s, "gpt-5.5")
        assert before is not None
        assert after is not None
        if s.view().folded.epoch == epoch and not waits:
            old, new = _blocks(before, format), _blocks(after, format)
            lines = before.blocks[-1].source == "repair"
            assert new[: len(old) - lines] == old[: len(old) - lines]


@lawful
@given(histories, st.lists(AROUND, min_size=2, max_size=5), st.sampled_from(FORMATS), SHARE)
def test_what_changes_around_leaves_what_was_cached_a_prefix(
    history: list[Any], turns: list[dict[str, Any]], format: str, durable: bool
) -> None:
    """Law 8: chat files and reminder change each turn, the rest is told at the tail."""
    with kept(200_000, durable) as hf:
        s = hf.session(model=CLAUDE)
        live(s, history)
        s.user("first")
        old: list[bytes] = []
        for number, told in enumerate(turns):
            more = {"chat_files": f"file {number}", "reminder": f"reminder {number}"}
            made = prepared(s, CLAUDE, **told, **more)
            assert made is not None
            assert _blocks(made, format)[: len(old)] == old
            last = made.window.breakpoints[-1]
            cached = replace(made.window, blocks=made.window.blocks[: last + 1])
            assert len(cached.blocks) == len(made.blocks) - 2
            old = _encoded(cached, made, format)
            answer(s, made)
            s.user(f"next {number}")


def _blocks(made: PreparedWindow, format: str) -> list[bytes]:
    """The encoding of each block by itself, breakpoints left out."""
    return _encoded(made.window, made, format)


def _encoded(window: Window, made: PreparedWindow, format: str) -> list[bytes]:
    request = codec(format).encode(window, made.profile, made._chosen({"cache": False}))
    for key in ("messages", "input", "contents"):
        if key in request:
            return [wire.encode(item) for item in _leaves(request[key])]
    raise AssertionError(request)


def _leaves(items: list[Any]) -> list[Any]:
    """Messages opened to their parts, so that a message that grows is no difference."""
    leaves: list[Any] = []
    for item in items:
        inner = item.get("content", item.get("parts"))
        if isinstance(inner, list):
            leaves += [{"role": item.get("role"), "part": part} for part in inner]
        else:
            leaves.append(item)
    return leaves


@lawful
@given(histories, WINDOWS, MODELS, st.lists(st.sampled_from(["held", "other"]), max_size=20))
def test_a_session_held_open_prepares_what_a_fresh_one_does(
    history: list[Any], window: int, model: str, turns: list[str]
) -> None:
    """Whatever was read before, and whoever wrote meanwhile."""
    with opened(window) as hf:
        held = hf.session(model=model)
        for number, step in enumerate(history):
            other = turns[number % len(turns)] == "other" if turns else False
            live(hf.session(id=held.id) if other else held, [step])
            held.refresh()
            asked = {"system": "be brief", "tools": [TOOL], "model": model}
            mine, fresh = (_previewed(s, asked) for s in (held, hf.session(id=held.id)))
            assert mine == fresh


def _previewed(s: Session, asked: dict[str, Any]) -> Any:
    try:
        made = s.preview(**asked)
    except OverBudget as refused:
        return str(refused)
    return made.window, made.fixes


def _said(role: Any, *parts: Any) -> Block:
    return Block(section="history", role=role, parts=parts, tokens=1, source=role)


CALLS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ""]), min_size=1, max_size=2)
ASIDES = st.sampled_from(
    [
        _said("user", Text("hi")), _said("user", Text("  ")), _said("user", Text("\ud800")),
        _said("system", Text("be brief")), _said("assistant", Text("done")), _said("assistant"),
        _said("assistant", Reasoning("so")), _said("user", Media("image/png", b"x")),
        _said("tool", ToolResult("a", "late")), _said("user", Text("go on")),
    ]
)  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn) -> list[Block]:
    """Nearly valid: now and then an id comes twice, a result is missing or out of order."""
    blocks = [_said("user", Text("first"))]
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            blocks.append(draw(ASIDES))
            continue
        calls = draw(CALLS)
        told = calls if draw(st.integers(0, 4)) else draw(CALLS)
        blocks.append(
            _said("assistant", Text("on it"), *(ToolCall(id, "sh", "{}") for id in calls))
        )
        role = "tool" if draw(st.integers(0, 9)) else "user"
        shot = () if draw(st.integers(0, 9)) else (Media("image/png", b"x" * 9_000_000),)
        blocks.append(_said(role, *(ToolResult(id, "ok", media=shot) for id in told)))
    return blocks[draw(st.integers(0, 1)) : len(blocks) - draw(st.integers(0, 1))]


@lawful
@given(conversations(), st.booleans())
def test_what_can_be_sent_as_it_is_needs_no_repair(blocks: list[Block], prefill: bool) -> None:
    limits = Limits(prefill=prefill)
    made = mended(blocks, limits)
    assert repair(blocks, limits) == made
    if can_be_sent(blocks, prefill=prefill):
        assert made == Repaired(blocks=tuple(blocks))


@lawful
@given(histories)
def test_repairing_twice_changes_nothing_more(history: list[Any]) -> None:
    with opened(200_000) as hf:
        s = hf.session(model="gpt-5.5")
        live(s, history)
        s.user("go on")
        made = prepared(s, "gpt-5.5")
        if made:
            again = repair(made.blocks)
            assert again.blocks == made.blocks
            assert again.fixes == ()
