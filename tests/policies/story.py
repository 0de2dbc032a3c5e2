"""One long session, the same for every policy: what is said, as plain tuples and as messages."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import NamedTuple

from holdfast.model.message import Message, Reasoning, Text, ToolCall, ToolResult, seal

PROSE = (
    "handler token window parser branch commit login logout cache buffer reader writer entry "
    "marker price budget section prompt answer question server client request reply order"
)
WORDS = PROSE.split()
SIZES = {
    "Read": (2_000, 22_000),
    "Bash": (400, 9_000),
    "Grep": (200, 4_000),
    "Edit": (300, 700),
    "skill": (3_000, 6_000),
}
HUGE = 150_000
"""Now and then a command prints so many characters."""

CUT = 40_000


class Said(NamedTuple):
    """One thing said: the role, the words, and the calls made or the call answered."""

    role: str
    text: str
    tool: str = ""
    """The tool whose result it is."""
    call: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Id and name of each tool that is asked for."""
    thought: str = ""


def words(random: Random, size: int, head: str) -> str:
    """So many characters of prose that begin with a label of their own."""
    made = [head]
    length = len(head)
    while length < size:
        word = random.choice(WORDS) if random.random() > 0.05 else str(random.randrange(9_999))
        made.append(word + ("\n" if random.random() < 0.09 else ""))
        length += len(made[-1]) + 1
    return " ".join(made)[:size]


@cache
def told(tokens: int = 300_000, seed: int = 7) -> tuple[Said, ...]:
    """A session of at least so many tokens, at four characters each and with long outputs cut."""
    random, made = Random(seed), list[Said]()
    turn = 0
    while sum(min(len(one.text), CUT) + len(one.thought) for one in made) < tokens * 4:
        made += _turn(random, turn)
        turn += 1
    return tuple(made)


def _turn(random: Random, turn: int) -> list[Said]:
    size = 24_000 if turn % 3 == 1 else random.randrange(100, 2_500)
    made = [Said("user", words(random, size, f"[ask {turn}]"))]
    for step in range(random.randrange(1, 6)):
        names = [random.choice(["Read", "Read", "Bash", "Grep", "Edit"])]
        names += [random.choice(["Read", "Grep", "Bash"])] * (random.random() < 0.4)
        names += ["skill"] * (turn % 5 == 0 and step == 0)
        ids = [f"c{turn}_{step}_{place}" for place in range(len(names))]
        made.append(
            Said(
                "assistant",
                words(random, random.randrange(80, 600), f"[step {turn}.{step}]"),
                calls=tuple(zip(ids, names, strict=True)),
                thought=words(random, random.randrange(100, 1_500), f"[thought {turn}.{step}]"),
            )
        )
        for id, name in zip(ids, names, strict=True):
            long = name == "Bash" and turn % 4 == 1 and step == 0
            size = HUGE if long else random.randrange(*SIZES[name])
            made.append(Said("tool", words(random, size, f"[{name} {id}]"), name, id))
    made.append(Said("assistant", words(random, random.randrange(200, 3_000), f"[done {turn}]")))
    return made


def message(one: Said) -> Message:
    """The message of a tuple."""
    if one.role == "user":
        return Message("user", (Text(one.text),))
    if one.role == "tool":
        return Message("tool", (ToolResult(one.call, one.text, name=one.tool),))
    signed = seal("anthropic", b'{"signature":"c2ln"}', "claude-sonnet-4-6")
    thought = (Reasoning(one.thought, signed),) if one.thought else ()
    asked = tuple(ToolCall(id, name, json.dumps({"of": id})) for id, name in one.calls)
    return Message("assistant", (*thought, Text(one.text), *asked))


def response(one: Said, prompt: int, number: int) -> dict[str, object]:
    """What the provider sends when this is said."""
    content: list[dict[str, object]] = []
    if one.thought:
        content.append({"type": "thinking", "thinking": one.thought, "signature": "c2ln"})
    content.append({"type": "text", "text": one.text})
    content += [
        {"type": "tool_use", "id": id, "name": name, "input": {"of": id}} for id, name in one.calls
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": content,
        "stop_reason": "tool_use" if one.calls else "end_turn",
        "usage": {"input_tokens": prompt, "output_tokens": len(json.dumps(content)) // 4},
    }
