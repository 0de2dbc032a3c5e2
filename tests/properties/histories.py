"""Histories as they really come: tool batches, thinking, pictures, aborted turns, branches."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from holdfast.engine.client import Holdfast, Session, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.errors import HoldfastError
from holdfast.model.log import Clear, PartRef, Pin, Redo, Summary, Undo
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    opaque,
    seal,
)
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import Span
from holdfast.policies import policy, prompt
from holdfast.stores.memory import MemoryStore

FORMATS = ("anthropic", "openai-responses", "openai-chat", "gemini")
OWNERS = {
    "claude-sonnet-4-6": ("anthropic", b'{"signature":"c2ln"}'),
    "gpt-5.5": ("openai", b'{"id":"rs_1","encrypted_content":"ZW5j","summary":[]}'),
    "gemini-3.1-pro": ("gemini", b'{"thoughtSignature":"dGhv"}'),
}
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000100000001008020000009091683600000000")


class Small:
    """A catalogue of models with one window."""

    def __init__(self, window: int) -> None:
        self.window = window

    def profile(self, model: str) -> Profile:
        return Profile(
            name=model,
            window=self.window,
            output_limit=4_096,
            abilities=frozenset({"cache_breakpoints", "tools", "images", "thinking"}),
        )

    def policy(self, name: str) -> Policy:
        return policy(name)

    def prompt(self, name: str) -> str:
        return prompt(name)

    def models(self) -> tuple[str, ...]:
        return ()

    def learn(self, model: str, **told: Any) -> Profile:
        return self.profile(model)


def opened(window: int) -> Holdfast:
    clock = SystemClock()
    engine = Engine(
        MemoryStore(), clock=clock, ids=Ulids(clock), lock=ThreadLock, catalogue=Small(window)
    )
    return Holdfast(engine)


words = st.text(st.sampled_from("ab \n<>/é中\ud800\x00😀"), max_size=60)
said = st.one_of(words, st.sampled_from(["", "   ", "</system-reminder>"]), st.just("word " * 150))
ids = st.sampled_from(["c1", "c2", "c3", "c4", ""])
models = st.sampled_from(list(OWNERS))


@st.composite
def replies(draw: st.DrawFn) -> dict[str, Any]:
    """What a model says: thinking, words, opaque blocks, calls; perhaps cut short."""
    model = draw(models)
    owner, residue = OWNERS[model]
    parts: list[Part] = []
    if draw(st.booleans()):
        sealed = draw(st.booleans())
        parts.append(Reasoning(draw(words), seal(owner, residue, model) if sealed else None))
    if draw(st.booleans()):
        parts.append(Text(draw(said)))
    if draw(st.integers(0, 9)) == 0:
        block = b'{"type":"redacted_thinking","data":"eA=="}'
        parts.append(opaque(owner, "redacted_thinking", block, model))
    for id in draw(st.lists(ids, max_size=3)):
        written = draw(st.sampled_from(['{"a": 1}', "{}", '{"cut', ""]))
        parts.append(ToolCall(id, draw(st.sampled_from(["sh", "read"])), written))
    done = draw(st.booleans()) or draw(st.booleans())
    return {"say": Message("assistant", tuple(parts)), "model": model, "done": done}


results = st.builds(
    lambda id, text, error, picture: Message(
        "tool", (ToolResult(id, text, error, media=(Media("image/png", PNG),) if picture else ()),)
    ),
    ids,
    said,
    st.booleans(),
    st.integers(0, 9).map(lambda n: n == 0),
)
requests = st.builds(
    lambda text, picture: Message(
        "user", (Text(text), *((Media("image/png", PNG, width=16, height=16),) if picture else ()))
    ),
    said,
    st.integers(0, 5).map(lambda n: n == 0),
)
moves = st.tuples(
    st.sampled_from(["rewind", "summary", "clear", "pin", "undo", "redo", "window"]),
    st.integers(0, 40),
    st.integers(0, 40),
)
steps = st.one_of(requests, replies(), results, moves)
histories = st.lists(steps, max_size=14)


def live(s: Session, history: list[Any]) -> None:
    """Let a history happen to a session; what is refused does not happen."""
    for step in history:
        try:
            _happen(s, step)
        except HoldfastError:
            continue


def _happen(s: Session, step: Any) -> None:
    if isinstance(step, Message):
        s.append(step)
    elif isinstance(step, dict):
        owner = OWNERS[step["model"]][0]
        s.append(step["say"], provider=owner, model=step["model"], completed=step["done"])
    else:
        _mark(s, *step)


def _mark(s: Session, kind: str, a: int, b: int) -> None:
    head = s.info.head
    first, last = sorted((a % (head + 1), b % (head + 1)))
    if kind == "rewind":
        s.rewind(str(last))
    elif kind == "summary" and first:
        s.append(Summary(covers=(Span(first, last),), text="so far"))
    elif kind == "clear" and first:
        s.append(Clear(parts=(PartRef(first, 0),)))
    elif kind == "pin" and first:
        s.append(Pin(seq=first) if b % 2 else Pin(fact="tabs, not spaces"))
    elif kind == "undo":
        s.append(Undo(marker=last))
    elif kind == "redo":
        s.append(Redo(marker=last))
    elif kind == "window":
        s.window(system="be brief", context={"cwd": f"/{a % 3}"})
