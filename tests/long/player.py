"""The model of a long conversation: it works with tools, and knows only what its window tells it.

Rule 1: it obeys what it finds in the request it was given, and in what its own searches brought.
Rule 2: it calls tools as models do: several at once, with outputs of every size, some in vain.
Rule 3: asked for a summary it answers well, forgetfully, with inventions, with nothing, or fails.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random
from typing import Any

from holdfast.engine.bridge import drive
from holdfast.engine.plugins import counter
from holdfast.model.reply import Usage
from holdfast.testing.strict.script import Answer, Ask, Asked, Part, Say, Think, answer
from tests.long.story import LOG, PARSER, PATTERNS, Turn

JOURNAL = "journal.log"
SIZES = (5, 40, 40, 150, 150, 600, 4_000, 120_000)
"""How many lines a command may write; the last is more than any window holds."""

MOST = 6
"""No turn has more steps."""

SUMMARIES = ("good", "forgetful", "forgetful", "invented", "empty", "failing", "cut")
SEARCHES = {"report": "report must go", "tag": "release tag", "build": "build id",
            "codes": "codes importer begin"}  # fmt: skip


def words(value: Any) -> Iterator[str]:
    """Every text of a request, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from words(member)
    elif isinstance(value, list):
        for member in value:
            yield from words(member)


@lru_cache(maxsize=200_000)
def _tokens(text: str) -> int:
    (found,) = drive(counter("o200k_base").count([text]))
    return found


def weigh(body: dict[str, Any]) -> int:
    """How many tokens a request has: each text by itself, and two for what stands around it."""
    return sum(_tokens(text) + 2 for text in words(body))


class Player:
    """Plays the model for the turns of one conversation."""

    def __init__(
        self,
        turns: list[Turn],
        seed: int,
        *,
        summaries: tuple[str, ...] = SUMMARIES,
        meanwhile: Callable[[bool, int], float] = lambda summary, turn: 0.0,
    ) -> None:
        self._turns = turns
        self._seed = seed
        self._summaries = summaries
        self._meanwhile = meanwhile
        """Told of each request: whether it asks for a summary, and its turn; how slow to answer."""
        self._steps: Counter[int] = Counter()
        self._lock = threading.Lock()
        self.asked = 0
        self.largest = 0
        self.summaries: Counter[str] = Counter()
        self.searched: set[str] = set()
        """What was no longer in the window, and was looked for."""

    def __call__(self, asked: Asked) -> Answer:
        with self._lock:
            tokens = weigh(asked.body)
            self.asked += 1
            self.largest = max(self.largest, tokens)
            text = "\n".join(words(asked.body))
            now = max((int(n) for n in re.findall(r"\bturn (\d+):", text)), default=0)
            summary = _is_summary(asked)
            pace = self._meanwhile(summary, now)
            made = self._summary(text) if summary else self._reply(self._turns[now], text)
        if made.status != 200:
            return made
        used = Usage(input=tokens, output=sum(_tokens(str(part)) for part in made.parts) + 1)
        return Answer(parts=made.parts, stop=made.stop, usage=used, pace=pace, piece=200)

    def _summary(self, text: str) -> Answer:
        many = self.summaries.total()
        kind = Random(f"{self._seed} {many}").choice(self._summaries)
        self.summaries[kind] += 1
        match kind:
            case "good":
                kept = [found[0] for found in map(_sentence(text), PATTERNS.values()) if found]
                return answer(" ".join(["The user has the agent work turn by turn.", *kept[:6]]))
            case "forgetful":
                return answer("The user has the agent work turn by turn, and it was done so far.")
            case "invented":
                return answer("The agent changed src/imaginary/engine.rs and ran cargo test, "
                              "which failed with exit status 77.")  # fmt: skip
            case "cut":
                return Answer(parts=(Say("The user has the"),), stop="length")
            case "failing":
                return Answer(status=500, error="the model is not well")
            case _:
                return answer("")

    def _reply(self, turn: Turn, text: str) -> Answer:
        step = self._steps[turn.number]
        self._steps[turn.number] += 1
        lately = text.rpartition(f"turn {turn.number}:")[2]
        if turn.looks:
            asked = [] if "compiled unit" in lately else [Ask("read", {"path": LOG})]
        elif turn.calls_for:
            asked = self._called(turn, text, lately)
        else:
            asked = self._planned(turn, step)
        if not asked or step >= MOST:
            return answer(self._ending(turn, text))
        said: list[Part] = [Think("I should look.")] if (turn.number + step) % 3 == 0 else []
        return Answer(parts=(*said, Say(f"Step {step}."), *asked))

    def _planned(self, turn: Turn, step: int) -> list[Ask]:
        """The calls of a step; none where a turn has no further one."""
        chance = Random(f"{self._seed} {turn.number}")
        if step >= chance.choice((0, 1, 1, 2)):
            return []
        chance = Random(f"{self._seed} {turn.number} {step}")
        calls = [_call(chance, turn.number) for _ in range(chance.choice((1, 1, 1, 2, 4)))]
        return [_noted(one, f"{turn.number}.{step}.{c}") for c, one in enumerate(calls)]

    def _called(self, turn: Turn, text: str, lately: str) -> list[Ask]:
        """What is still to be done where something that was planted is called for."""
        match turn.calls_for:
            case "legacy":
                path = PARSER[bool(_found("legacy", text))]
                return _once(Ask("write", {"path": path, "content": "tidy = 1\n"}), path, lately)
            case "check":
                run = _found("check", text)
                fix = Ask("write", {"path": "src/fix.py", "content": f"fixed = {turn.number}\n"})
                ran = Ask("shell", {"command": f"{run} {turn.number}"})
                return _once(fix, "src/fix.py", lately) or (
                    _once(ran, f"checked {turn.number}", lately) if run else []
                )
            case "report" if path := _found("report", text):
                return _once(Ask("write", {"path": path, "content": "It.\n"}), path, lately)
            case name:
                return [] if _found(name, text) else self._searching(name)

    def _searching(self, name: str) -> list[Ask]:
        """Something that is called for is not in the window: it is looked for."""
        self.searched.add(name)
        return [Ask("search_history", {"query": SEARCHES[name]})]

    def _ending(self, turn: Turn, text: str) -> str:
        """The last words of a turn."""
        chance = Random(f"{self._seed} ends {turn.number}")
        found = _found(turn.calls_for, text) if turn.calls_for in ("tag", "build", "codes") else ""
        more = " ".join(["That was all there is to say of it."] * chance.choice((0, 1, 3, 12)))
        return f"{prefix(text)} Turn {turn.number} is done. {found} {more}".strip()


def _once(call: Ask, told: str, lately: str) -> list[Ask]:
    """A call, unless what it tells when it is done has been told."""
    done = (f"created {told}", f"replaced {told}", f"{told}\n")
    return [] if any(words in lately for words in done) else [call]


def _is_summary(asked: Asked) -> bool:
    """Whether a request asks for something on the side: nothing may be called then."""
    body = asked.body
    tools, choice = body.get("tools"), str(body.get("tool_choice") or body.get("toolConfig"))
    return not tools or (choice != "None" and "none" in choice.lower())


def _sentence(text: str) -> Callable[[str], re.Match[str] | None]:
    return lambda pattern: re.search(rf"[^.\n]*{pattern}[^.\n]*\.", text)


def _found(name: str, text: str) -> str:
    found = re.findall(PATTERNS[name], text) if name in PATTERNS else []
    return found[-1] if found else ""


def prefix(text: str) -> str:
    """How answers are to begin, as far as a window says so: what was revoked no longer counts."""
    gone = set(re.findall(PATTERNS["correction"], text))
    told = [one for one in re.findall(PATTERNS["prefix"], text) if one not in gone]
    return told[-1] if told else "Well:"


def _call(chance: Random, turn: int) -> Ask:
    lines = chance.choice(SIZES)
    return chance.choice(
        (
            Ask("shell", {"command": f"seq {turn} {turn + lines}"}),
            Ask("shell", {"command": f"seq {turn} {turn + lines}"}),
            Ask("shell", {"command": "echo it fails; exit 3"}),
            Ask("read", {"path": f"src/part_{chance.randrange(8)}.py"}),
            Ask("read", {"path": f"src/part_{chance.randrange(8)}.py", "limit": 60}),
            Ask("read", {"path": "src/there_is_no_such.py"}),
            Ask("write", {"path": f"src/made_{turn % 12}.py", "content": f"made = {turn}\n" * 9}),
            Ask("edit", {"path": "src/fix.py", "old": "fixed", "new": "mended"}),
            Ask("edit", {"path": "src/part_1.py", "old": "value", "new": "worth"}),
            Ask("grep", {"pattern": f"value_{chance.randrange(400)}\\b"}),
            Ask("list", {"path": "src"}),
            Ask("frobnicate", {"path": "x"}),
            Ask("todo", {"todos": [{"content": f"step {turn}", "status": "pending"}]}),
        )
    )


def _noted(call: Ask, name: str) -> Ask:
    """A command that leaves its own name behind each time it really runs."""
    if call.name != "shell" or not isinstance(call.input, dict):
        return call
    return Ask("shell", {"command": f"echo {name} >> {JOURNAL}; {call.input['command']}"})
