"""The long session played under a policy, call by call, as an agent would; and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from holdfast.engine.blocking import Session
from holdfast.engine.bridge import spoken
from holdfast.engine.client import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import Ulids
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.model.log import Clear, Entry, Summary
from holdfast.model.message import ToolResult
from holdfast.model.profile import Profile
from holdfast.ports import Ids
from holdfast.stores.memory import MemoryStore
from tests.policies.story import Said, message, response, told
from tests.properties.histories import Small

MODEL = "claude-sonnet-4-6"
SUMMARY = "They work on the login handler. What was asked so far is done, and nothing is open. "


LINE = "\n\n[All that this summary covers is kept word for word: recall "


def prose(text: str) -> str:
    """What a summary says, without the line that says how to bring back what it covers."""
    return text.partition(LINE)[0]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.ms = 1_760_000_000_000

    def now(self) -> int:
        self.ms += 1
        return self.ms


class Models(Small):
    """A catalogue of models that differ from one another only as a test says."""

    def __init__(self, window: int, own: dict[str, Any]) -> None:
        super().__init__(window)
        self._told = {"window": window, "output_limit": 32_000, "provider": "anthropic", **own}
        self.others: dict[str, dict[str, Any]] = {}

    def profile(self, model: str) -> Profile:
        return Profile(name=model, **{**self._told, **self.others.get(model, {})})


class Voice:
    """Writes summaries as a test says, and remembers what it was asked."""

    def __init__(self, *answers: str | Exception | Callable[[Any], str]) -> None:
        self._answers = list(answers)
        self.asked: list[Any] = []

    def __call__(self, question: Any) -> str:
        self.asked.append(question)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else answer(question)


class Play:
    """A session under one policy, with a clock and a summariser of the test's own."""

    def __init__(
        self, name: str, window: int = 128_000, voice: Voice | None = None, ids: Ids | None = None,
        **profile: Any,
    ) -> None:  # fmt: skip
        self.clock, self.models = Clock(), Models(window, profile)
        self.voice = voice or Voice(lambda question: f"{SUMMARY}[summary {len(voiced.asked)}]")
        voiced = self.voice
        engine = Engine(
            MemoryStore(), clock=self.clock, ids=ids or Ulids(self.clock), lock=ThreadLock,
            catalogue=self.models, voice=spoken,
        )  # fmt: skip
        self.hf = Holdfast(engine)
        self.session: Session = self.hf.session(
            model=MODEL, policy=name, summariser=self.voice, weak_model=""
        )
        self.said: dict[int, Said] = {}
        """What was said, by its place in the log."""
        self.usage: list[int] = []

    def say(self, one: Said) -> Entry:
        """Append one thing, as it is said."""
        if one.role == "assistant" and self.usage and self.session.info.head:
            entry = self.session.reply(response(one, self.usage[-1], len(self.said)))
        else:
            entry = self.session.append(message(one))
        self.said[entry.seq] = one
        return entry

    def call(self) -> PreparedWindow:
        """Prepare the next call and send it: the provider counts four characters a token."""
        made = self.session.window(system="You are a careful engineer.")
        request = made.request("anthropic")
        self.usage.append(len(json.dumps([request["system"], request["messages"]])) // 4)
        return made

    def through(self, story: Sequence[Said]) -> Iterator[PreparedWindow]:
        """Every window of a story: one before each thing the model says."""
        for one in story:
            if one.role == "assistant":
                yield self.call()
            self.say(one)

    def to_summary(self, story: Sequence[Said]) -> tuple[PreparedWindow, PreparedWindow]:
        """Play until the first summary; the windows before it and with it."""
        before: PreparedWindow | None = None
        for made in self.through(story):
            if self.markers(Summary) and before:
                return before, made
            before = made
        raise AssertionError("nothing was summarised")

    def markers(self, kind: type = object) -> list[Entry]:
        """The compactions so far."""
        kinds = (Summary, Clear) if kind is object else (kind,)
        return [entry for entry in self.session.entries() if isinstance(entry.body, kinds)]


class Shown(Struct, frozen=True):
    """What a window shows of the conversation, by places in the log."""

    history: tuple[int, ...]
    """What is shown word for word at its place."""
    kept: tuple[int, ...]
    summaries: int
    cleared: tuple[int, ...]


def shown(made: PreparedWindow, play: Play) -> Shown:
    """What a window shows."""
    answers = {one.call: place for place, one in play.said.items() if one.call}
    talk = [b for b in made.blocks if b.section in ("history", "current")]
    results = {
        answers[part.call]: part.output  # results of one reply may stand in one block
        for block in talk
        for part in block.parts
        if isinstance(part, ToolResult)
    }
    said = [block.seq for block in talk if block.seq in play.said and block.role != "tool"]
    return Shown(
        history=tuple(sorted((*said, *results))),
        kept=tuple(b.seq for b in made.blocks if b.section == "kept"),
        summaries=sum(b.section == "summary" for b in made.blocks),
        cleared=tuple(at for at, text in results.items() if is_cleared(text, play.said[at])),
    )


def is_cleared(output: str, one: Said) -> bool:
    """Whether only a handle stands for a tool's result."""
    return one.text[:20] not in output and "recall prt_" in output


class Step(Struct, frozen=True):
    """One call of the session: what was there before it, and what became of it."""

    said: tuple[int, ...]
    """Everything said so far, by place."""
    since: tuple[int, ...]
    """What was said since the last reply."""
    used: int
    """What the last call reported, its reply included."""
    shown: Shown
    made: PreparedWindow
    markers: tuple[Entry, ...]
    """The compactions that this call has brought."""

    def told(self, kind: type) -> Any:
        """The marker of a kind that this call has brought; None for none."""
        return next((entry.body for entry in self.markers if isinstance(entry.body, kind)), None)


@cache
def record(name: str, window: int = 128_000) -> tuple[Play, list[Step]]:
    """The whole story under a policy, once."""
    play = Play(name, window)
    return play, steps_of(play)


def steps_of(play: Play) -> list[Step]:
    """The whole story, call by call."""
    steps, known = list[Step](), 0
    since: list[int] = []
    used = 0
    for one in told():
        if one.role == "assistant":
            before, made = tuple(play.said), play.call()
            markers = tuple(entry for entry in play.markers() if entry.seq > known)
            known = max((entry.seq for entry in markers), default=known)
            steps.append(Step(before, tuple(since), used, shown(made, play), made, markers))
        entry = play.say(one)
        since.append(entry.seq)
        if one.role == "assistant":
            usage = response(one, play.usage[-1], 0)["usage"]
            used, since = sum(usage.values()), []  # type: ignore[attr-defined]
    return steps


def requested(made: PreparedWindow) -> list[str]:
    """The words of a request, in order, as the provider reads them."""
    found: list[str] = []
    put_in = "Continue."  # where a conversation would begin with what the model said

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name in ("text", "thinking", "content"):
                walk(value.get(name))
        elif isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, str) and value != put_in:
            found.append(value)

    walk(made.request("anthropic")["messages"])
    return found
