"""A law that cannot be broken says nothing: each is broken on purpose here, and is noticed."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.core.compaction import situation, summarise
from holdfast.core.window import assemble
from holdfast.engine.calls.ask import Guard
from holdfast.engine.compaction import model_summary, summary
from holdfast.engine.compaction.shedding import Shedding
from holdfast.engine.window.message_cache import MessageCache
from holdfast.errors import Refused
from holdfast.model.message import Reasoning, Text
from holdfast.model.window import Block
from tests.policies import SHED
from tests.properties.climbs import Climber
from tests.properties.ladders import TEMPERS, engine, rolled

TALKS = 80
"""So many talks are enough to notice any of these."""

Change = Callable[[pytest.MonkeyPatch], None]


def _put(owner: Any, name: str, made: Callable[..., Any]) -> Change:
    """Put a function in the place of another, which it is given."""

    def change(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(owner, name, made(getattr(owner, name)))

    return change


def _make(section: str, made: Callable[..., Any]) -> Change:
    """Make a section of the window otherwise."""

    def change(patch: pytest.MonkeyPatch) -> None:
        patch.setitem(assemble._MAKERS, section, made(assemble._MAKERS[section]))

    return change


def _everywhere(legal: Any) -> Any:
    return lambda messages: list(range(len(messages) + 1))


def _unkept(kept: Any) -> Any:
    return lambda *given: summarise.Kept()


def _entry_changed(entry: Any, change: Callable[[Any], Any]) -> Any:
    def made(self: Any, *given: Any) -> Block:
        block = entry(self, *given)
        return replace(block, parts=tuple(map(change, block.parts)))

    return made


def _unsealed(entry: Any) -> Any:
    def change(part: Any) -> Any:
        return replace(part, text=part.text.strip() + ".") if isinstance(part, Reasoning) else part

    return _entry_changed(entry, change)


def _restless(history: Any) -> Any:
    def made(self: Any, place: Any) -> list[Block]:
        blocks = history(self, place)
        told = Text(f"{len(self._seen.messages)} messages so far", scaffold="system-reminder")
        head = [replace(one, parts=(*one.parts, told)) for one in blocks[:1] if one.role == "user"]
        return [*head, *blocks[len(head) :]]

    return made


def _forgetful(messages: Any) -> Any:
    async def made(*given: Any) -> Any:
        found = await messages(*given)
        return found[1:] if len(found) > 4 else found

    return made


def _wordy(extract: Any) -> Any:
    return lambda entries, earlier, budget, **more: "word after word " * max(budget, 64)


def _async(value: Any) -> Any:
    async def made(*given: Any, **more: Any) -> Any:
        return value

    return lambda _: made


MUTANTS: dict[str, tuple[Change, str]] = {
    "1: cuts anywhere": (_put(summarise, "boundaries", _everywhere), "parted"),
    "1: thoughts are trimmed": (_put(assemble._Sections, "_entry", _unsealed), "part in known"),
    "2: what was asked is covered": (_put(summarise, "_kept", _unkept), "just asked"),
    "2: what is new is covered": (
        _put(situation, "unread_from", lambda _: lambda messages: len(messages)),
        "is hidden",
    ),
    "2: nothing is shed": (_put(Shedding, "marker", _async(None)), "would fit"),
    "3: a question may fill the window": (
        _put(model_summary, "room_for", lambda _: lambda profile, most: profile.window * 2),
        "a question of",
    ),
    "4: a summary of any length": (_put(summary, "extract", _wordy), "promised"),
    "4: nobody counts failures": (_put(Guard, "why_not", _async("")), "breaker"),
    "5: whatever comes is accepted": (
        _put(model_summary, "refusals", lambda _: lambda *given, **more: []),
        "accepted",
    ),
    "6: the oldest is left out": (_put(MessageCache, "messages", _forgetful), "nobody says"),
    "7: pins are left out": (
        _make("pins", lambda _: lambda self, place: []),
        "PINNED",
    ),
    "7: sections are left out": (
        _put(assemble._Sections, "_text", lambda _: lambda self, place: []),
        "INSTRUCTIONS",
    ),
    "8: what stands first changes": (_make("history", _restless), "prefix"),
    "what was undone is done again": (
        _put(summarise, "without", lambda _: lambda spans, gone: spans),
        "done again",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_law_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, told = MUTANTS[mutant]
    change(monkeypatch)
    assert any(told in said for said in map(_lived, range(TALKS))), f"{mutant} went unnoticed"


def _lived(seed: int) -> str:
    """What a talk ended with, where a law was broken."""
    random = Random(seed)
    name = random.choice(["codex", "claude-code", "holdfast", "opencode@seed", "gemini-cli", SHED])
    window, temper = random.choice([4_096, 8_192]), random.choice(["", "obeys", *TEMPERS])
    try:
        with engine(window) as hf:
            Climber(hf, name, temper, random.randrange(3), random.random() < 0.5).live(
                rolled(random)
            )
    except (AssertionError, Refused) as broken:
        return f"{broken} {_line(broken)}"
    return ""


def _line(error: BaseException) -> str:
    """The source of the line that an assertion without words stands in."""
    return str(traceback.extract_tb(error.__traceback__)[-1].line)
