"""Small logs in few words: who said what, which tool was asked for, and what it answered."""

import json
from typing import Any

from msgspec.structs import replace

from holdfast.model.log import Body, Entry
from holdfast.model.message import Message, Text, ToolCall, ToolResult, assistant, tool, user


def said(*bodies: Body) -> list[Entry]:
    """These bodies as entries, in order; every reply is finished."""
    return [
        Entry(id=f"e{seq}", session="s", seq=seq, body=body, created=seq, completed=seq)
        for seq, body in enumerate(bodies, 1)
    ]


def imported(*bodies: Body) -> list[Entry]:
    """The same as a transcript of another program has them."""
    return [replace(entry, native=f"n{entry.seq}") for entry in said(*bodies)]


def used(
    name: str,
    fields: dict[str, Any] | str,
    output: str = "",
    *,
    error: bool = False,
    call: str = "",
) -> tuple[Message, Message]:
    """A tool that is asked for, and its answer."""
    told = fields if isinstance(fields, str) else json.dumps(fields)
    key = call or f"{name}-{abs(hash((told, output)))}"
    return (
        assistant(ToolCall(key, name, told)),
        tool(ToolResult(key, output, error, name)),
    )


def ran(line: str, status: int | None = 0, output: str = "") -> tuple[Message, Message]:
    """A command of Codex that ends with a status."""
    told = (
        output
        if status is None
        else f"Exit code: {status}\nWall time: 1 seconds\nOutput:\n{output}"
    )
    return used("shell_command", {"command": line}, told)


def done(text: str = "Done.") -> Message:
    """A reply that ends a turn."""
    return assistant(text)


def asked(text: str) -> Message:
    """What a user asks."""
    return user(text)


def harness(text: str) -> Message:
    """What a harness says in the user's role."""
    return Message("user", (Text(text, scaffold="system-reminder"),))
