"""Row 8: an answer breaks at any byte on its way. What it is known to have used is counted once,
the session can be gone on with, and nobody upstream is left hanging."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.calls import send
from holdfast.engine.client import Holdfast
from holdfast.engine.plugins import provider
from holdfast.errors import ProviderError
from holdfast.model.rate_limits import Limits
from holdfast.model.reply import Call, Delta, Usage
from holdfast.ports import Provider, ResponseStream
from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, Think, answer
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.proxy import Break, Kind, Link, Proxy

WHO = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-5"),
    "openai-chat": ("openai", "gpt-4o"),
    "gemini": ("google", "gemini-2.5-pro"),
}
TOOLS = [{"name": "tide", "description": "Tides.", "input_schema": {"type": "object"}}]
TOOK = Usage(input=4_321, cache_read=2_048, output=1_234)
SAID = answer(
    Think("Zuerst nachsehen: 潮汐."),
    "Überall Ebbe — 満潮は正午 🌊.",
    Ask("tide", {"port": "Måløy 🌊"}),
    usage=TOOK,
    piece=9,
)
STALL = 0.3
"""How long the transport waits for the next byte, in seconds, where an answer stalls."""
PATIENCE = 10.0


def run(trial: Trial) -> Tally:
    """A few bytes of every kind; in the long form every byte."""
    tally = Tally()
    for format in WHO:
        with _stage(format) as stage:
            faults = list(_faults(_clean(stage), trial))
            for fault in faults:
                verdicts = _broken(stage, fault, MUTANTS.get(trial.store))
                tally.count(f"{format}, {fault.kind} at byte {fault.at}", *verdicts)
                trial.progress(tally.tried, tally.tried + len(faults))
                if trial.enough(tally):
                    return tally
    return tally


def _faults(raw: bytes, trial: Trial) -> Iterator[Break]:
    random = Random(trial.seed)
    yield from (Break("leave", pieces) for pieces in range(12 if trial.long else 2))
    for kind_of_byte, places in kinds(raw).items():
        few = sorted({places[0], places[len(places) // 2], places[-1]})
        yield from (Break("cut", at) for at in (places if trial.long else few))
        others: tuple[Kind, ...] = ("reset", "split", "garble")
        for kind in others:
            chosen = places[:: 5 if kind_of_byte == "json" else 1] if trial.long else few[:1]
            yield from (Break(kind, at) for at in chosen)
        if trial.long or random.random() < 0.25:
            yield Break("stall", random.choice(places))


def kinds(raw: bytes) -> dict[str, list[int]]:
    """Every byte of an answer by what it belongs to."""
    head, final = raw.index(b"\r\n\r\n") + 4, raw.rindex(TOKENS)
    last = raw.index(b"\n\n", raw.rindex(b"data: "))
    sizes = _inside(rb"(?<=\r\n)[0-9a-f]+\r\n", raw)
    tests: dict[str, Callable[[int], bool]] = {
        "status line": range(raw.index(b"\r\n") + 2).__contains__,
        "headers": range(head).__contains__,
        "behind the last event": range(last, len(raw)).__contains__,
        "chunk size": sizes.__contains__,
        "field name": _inside(rb"(event|data): ", raw).__contains__,
        "UTF-8": lambda at: raw[at] >= 0x80,
        "between events": _inside(rb"\n\n", raw).__contains__,
        "final usage": range(final, final + len(TOKENS)).__contains__,
        "json": lambda at: True,
    }
    found: dict[str, list[int]] = {}
    for at in range(len(raw)):
        kind = next(kind for kind, holds in tests.items() if holds(at))
        found.setdefault(kind, []).append(at)
    return found


def _inside(pattern: bytes, raw: bytes) -> set[int]:
    return {at for match in re.finditer(pattern, raw) for at in range(*match.span())}


TOKENS = b"1234"
"""The output of the answer that breaks, as it stands in its last usage."""


Shape = Callable[[Provider], Provider]


def _clean(stage: _Stage) -> bytes:
    """An answer as it passes when nothing breaks."""
    stage.begin(None)
    stage.speak()
    return bytes(stage.proxy.links[0].answer)


def _broken(stage: _Stage, fault: Break, shape: Shape | None) -> list[Verdict]:
    """What is found after an answer broke, and the session was gone on with."""
    stage.begin(fault, shape)
    try:
        stage.speak(fault.at if fault.kind == "leave" else -1)
    except (ProviderError, Left):
        pass
    except Exception as error:
        return [Verdict(f"told as {error!r}", silent=True)]
    return [*_counted(stage), _let_go(stage), _goes_on(stage)]


class Left(BaseException):
    """Whoever was listening has gone away, as with Ctrl-C."""


@dataclass
class _Stage:
    """A provider behind a proxy, and a session that talks to it."""

    format: str
    server: StrictServer
    proxy: Proxy
    hf: Holdfast
    patient: Provider
    hasty: Provider
    """Gives up soon where an answer stalls."""
    session: Any = None
    to: Provider | None = None
    before: int = 0
    """How many requests had been made before."""

    def begin(self, fault: Break | None, shape: Shape | None = None) -> None:
        """A new session, whose first answer breaks."""
        self.proxy.arm(fault)
        to = self.hasty if fault and fault.kind == "stall" else self.patient
        self.to = shape(to) if shape else to
        self.before = len(self.server.asked)
        made = self.hf.session(model=WHO[self.format][1])
        self.session = made._inner  # type: ignore[reportPrivateUsage]
        self.session.pause = None
        drive(self.session.user("Where is the tide high?"))

    def speak(self, leave: int = -1) -> None:
        """Ask, and hear the answer; leave it after so many pieces."""
        assert self.to is not None
        heard: list[Delta] = []

        def hear(delta: Delta) -> None:
            heard.append(delta)
            if len(heard) > leave >= 0:
                raise Left

        drive(send.send(self.session, self.session.turns, self.to, hear, tools=TOOLS))

    @property
    def asked(self) -> list[Asked]:
        return self.server.asked[self.before :]


@contextmanager
def _stage(format: str) -> Iterator[_Stage]:
    name, _ = WHO[format]
    with (
        StrictServer(_script) as server,
        Proxy(server.url()) as proxy,
        holdfast.open("memory:") as hf,
    ):
        url = proxy.url + server.url(name).removeprefix(server.url())
        with (
            closing(provider(name, format, key="sk-test", url=url, seconds=PATIENCE)) as patient,
            closing(provider(name, format, key="sk-test", url=url, seconds=STALL)) as hasty,
        ):
            yield _Stage(format, server, proxy, hf, patient, hasty)


def _script(asked: Asked) -> Answer:
    return answer("Fine.") if "And now?" in str(asked.body) else SAID


def _counted(stage: _Stage) -> Iterator[Verdict]:
    """Each request has one row at most, with the last usage that came for it."""
    calls: tuple[Call, ...] = drive(stage.session.store.calls.newest(stage.session.id))
    rows = sum((call.usage for call in calls), Usage())
    if len(calls) > len(stage.asked):
        yield Verdict(f"{len(calls)} rows for {len(stage.asked)} requests", corrupt=True)
    due = [_used(stage.format, link) for link in stage.proxy.links]
    least = sum((some[0] for some in due), Usage()).total
    most = sum((some[-1] for some in due), Usage()).total
    if rows.total < least:
        yield Verdict(f"{rows.total} tokens counted, {least} came", lost=1)
    if rows.total > most:
        yield Verdict(f"{rows.total} tokens counted, {most} came", corrupt=True)


def _used(format: str, link: Link) -> list[Usage]:
    """What an answer told, as far as it came: at least and at most."""
    kind = link.fault.kind if link.fault else ""
    if kind == "garble":  # a digit may have become another
        return [Usage(), Usage(output=TOOK.total * 10)]
    told = [Usage(), *_usages(format, _body(bytes(link.answer)))]
    if kind in ("reset", "leave"):  # what has not been read yet is thrown away
        return [Usage(), max(told, key=lambda one: one.total)]
    return [told[-1]]


def _body(raw: bytes) -> bytes:
    """The bytes of the answer itself, its chunks put together as far as they came."""
    _, _, rest = raw.partition(b"\r\n\r\n")
    body = b""
    while match := re.match(rb"([0-9a-f]+)\r\n", rest):
        size = int(match[1], 16)
        body += rest[match.end() : match.end() + size]
        rest = rest[match.end() + size + 2 :]
    return body


def _usages(format: str, body: bytes) -> Iterator[Usage]:
    """What each whole event tells of usage, read as the providers document it."""
    known: dict[str, int] = {}
    for event in body.split(b"\n\n")[:-1]:
        line = next((line for line in event.split(b"\n") if line.startswith(b"data: ")), b"")
        if not line or line == b"data: [DONE]":
            continue
        data = json.loads(line[6:])
        inner = data.get("message") or data.get("response") or data
        known |= inner.get("usage") or inner.get("usageMetadata") or {}
        if known:
            yield _READ[format](known)


_READ: dict[str, Callable[[dict[str, Any]], Usage]] = {
    "anthropic": lambda told: Usage(
        input=told["input_tokens"], cache_read=told["cache_read_input_tokens"],
        output=told["output_tokens"],
    ),
    "openai-responses": lambda told: Usage(
        input=told["input_tokens"], output=told["output_tokens"]
    ),
    "openai-chat": lambda told: Usage(
        input=told["prompt_tokens"], output=told["completion_tokens"]
    ),
    "gemini": lambda told: Usage(
        input=told["promptTokenCount"],
        output=told.get("candidatesTokenCount", 0) + told.get("thoughtsTokenCount", 0),
    ),
}  # fmt: skip


def _let_go(stage: _Stage) -> Verdict:
    """A connection whose answer broke is hung up, and the server notices."""
    first = stage.proxy.links[0]
    if first.fault is None or first.fault.kind in ("split", "garble"):
        return GOOD
    if not first.left.wait(PATIENCE) or not first.over.wait(PATIENCE):
        return Verdict("the connection was left open", silent=True)
    others = len(stage.proxy.links) - 1
    end = time.monotonic() + PATIENCE
    while stage.server.connections > others and time.monotonic() < end:
        time.sleep(0.001)
    if stage.server.connections > others:
        return Verdict("the server still holds the connection", silent=True)
    return GOOD


def _goes_on(stage: _Stage) -> Verdict:
    """The next request is one that the provider takes."""
    drive(stage.session.user("And now?"))
    try:
        stage.speak()
    except Exception as error:
        return Verdict(f"the session cannot be gone on with: {error!r}", corrupt=True)
    refused = [asked.refusal for asked in stage.asked if asked.rule]
    if refused:
        return Verdict(f"refused: {refused[0]}", corrupt=True)
    return GOOD


class _Wrapped:
    """A provider whose answers are read through another flow."""

    blocking: ClassVar[bool] = True

    def __init__(self, to: Provider, flow: Callable[[ResponseStream], ResponseStream]) -> None:
        self._to, self._flow = to, flow
        self.name, self.format = to.name, to.format

    @property
    def limits(self) -> Limits | None:
        return self._to.limits

    async def begin(self, request: dict[str, Any]) -> ResponseStream:
        return self._flow(await self._to.begin(request))

    def close(self) -> None:
        self._to.close()


class _LeftOpen:
    """A flow that is never let go."""

    def __init__(self, flow: ResponseStream) -> None:
        self._flow = flow

    async def read(self) -> bytes:
        return await self._flow.read()

    async def close(self) -> None:
        _LEFT.append(self._flow)


_LEFT: list[ResponseStream] = []


class _OneBehind(_LeftOpen):
    """A flow that gives each piece only once the next has come: what came last is lost."""

    _held = b""

    async def read(self) -> bytes:
        held, self._held = self._held, await self._flow.read()
        return held or (await self.read() if self._held else b"")

    async def close(self) -> None:
        await self._flow.close()


MUTANTS: dict[str, Shape] = {
    "upstream left open": lambda to: _Wrapped(to, _LeftOpen),
    "the last piece dropped": lambda to: _Wrapped(to, _OneBehind),
}
