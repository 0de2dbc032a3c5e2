"""What the adapters share: a framework's own message kept whole beside what we read of it.

Rule 1: the original is sealed onto the message for its framework; it is neither counted nor sent.
Rule 2: it comes back as it was while everything of it is shown; otherwise what is shown is written
        anew.
Rule 3: what the window was made for is known before the call, so that its usage tells how well
        it was counted.
"""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from holdfast.core.window.recall import recall_tools
from holdfast.engine.blocking import Session
from holdfast.model import wire
from holdfast.model.log import Entry
from holdfast.model.message import FRAMEWORK, Media, Message, Part, Reasoning, Text, ToolCall, seal
from holdfast.model.reply import Reply
from holdfast.model.window import Block, Tool

FORMATS = {"anthropic": "anthropic", "google": "gemini", "openai": "openai-responses"}
"""How a provider is spoken to; every other one as OpenAI is in chats."""


SAFE = "".join(chr(n) for n in range(0x20, 0x7F) if chr(n) != "%")
"""What stands in the id of a session as it does in a framework's name; the rest becomes %XX."""

CHECKPOINTS = "langgraph:"
"""How the ids of the sessions begin that hold LangGraph's checkpoints; no conversation's does."""

REMEMBERED = 1_000
"""Of so many sessions an adapter remembers what they hold; what it forgot, their keys know."""


def own_name(name: str) -> str:
    """The id of the session for a name of the framework's own; no two names have the same."""
    return quote(name, safe=SAFE)


def conversation_id(name: str, *within: str) -> str:
    """The id of the session of a thread or conversation, or of a graph that runs within it.

    Names may come from whoever asks: none leads to a graph within another's thread, whose names
    are joined by `|`, nor to another's checkpoints.
    """
    id = "|".join(own_name(part).replace("|", "%7C") for part in (name, *within))
    return id.replace(":", "%3A", 1) if id.startswith(CHECKPOINTS) else id


class Known:
    """Which messages are known to be in which sessions; shared among threads."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, set[str]] = OrderedDict()
        self._lock = Lock()

    def has(self, session: str, id: str) -> bool:
        """Whether a message is known to be there."""
        with self._lock:
            return id in self._ids.get(session, ())

    def add(self, session: str, id: str) -> None:
        """A message is there."""
        with self._lock:
            self._ids.setdefault(session, set()).add(id)
            self._ids.move_to_end(session)
            while len(self._ids) > REMEMBERED:
                self._ids.popitem(last=False)


class Conversation:
    """A session as an adapter uses it, for one call of a model."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._format = ""

    def prepared(
        self,
        system: str = "",
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        max_tokens: object = None,
    ) -> list[Block]:
        """What is to be sent now, made to fit, without the system prompt.

        `max_tokens` is the limit that the framework sends; where it has none the policy's holds.
        """
        limit = max_tokens if type(max_tokens) is int and max_tokens > 0 else 0
        known = self.session.catalogue.profile(self.session.info.model)
        limit = min(limit, known.output_limit)  # more is never answered, whoever asks for it
        window = self.session.window(system=system, tools=tools, max_tokens=limit)
        self._format = FORMATS.get(window.profile.provider, "openai-chat")
        window.request(self._format)  # what is remembered of the call until its reply comes
        return _conversation(window.blocks)

    def shown(self) -> list[Block]:
        """What would be sent now, though nothing is asked yet."""
        blocks = _conversation(self.session.window().blocks)
        if blocks and blocks[-1].source == "repair":  # a line for a model that is not asked
            blocks.pop()
        return blocks

    def answered(self, reply: Reply, *, key: str = "", fresh: bool = False) -> Entry:
        """Append what a model answered, with its usage.

        A fresh one has just come, and is appended also where a server repeats its ids.
        """
        head = self.session.refresh().head if fresh and key else 0
        entry = self.session.reply(reply, format=self._format, key=key)
        if entry.seq > head:
            return entry
        return self.session.reply(reply, format=self._format, key=f"{key} {head}")


def _conversation(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.section != "system"]


def keep(parts: Sequence[Part], framework: str, original: Any) -> tuple[Part, ...]:
    """The parts that were read of an original, with the original sealed onto one of them."""
    made = list(parts) or [Text("")]
    place = max(
        (i for i, part in enumerate(made) if not isinstance(part, Reasoning)),
        default=len(made) - 1,
    )
    data = wire.encode({"kinds": _kinds(made), "is": original})
    made[place] = replace(made[place], seal=seal(FRAMEWORK + framework, data))
    return tuple(made)


def kept(parts: Sequence[Part], framework: str) -> Any | None:
    """The original that these parts were read of; None where not all of it is shown."""
    for part in parts:
        found = getattr(part, "seal", None)
        if found and found.owner == FRAMEWORK + framework and found.intact:
            told = wire.decode(found.data, dict[str, Any])
            if told.get("kinds") == _kinds(parts):
                return told["is"]
    return None


def _kinds(parts: Sequence[Part]) -> list[str]:
    return [type(part).__name__ for part in parts]


def words(block: Block) -> str:
    """The text of a block."""
    return Message(block.role, block.parts).text


def thought(text: str, framework: str, secret: str = "") -> Reasoning:
    """What a model thought; its signature takes room in the window, and is kept for that."""
    told = seal(f"{FRAMEWORK}{framework} signature", secret.encode()) if secret else None
    return Reasoning(text, told)


def medium(type: str, told: str) -> Media:
    """A picture or document from its address, or from its base64."""
    head, comma, data = told.partition(",")
    if told.startswith("data:") and comma:
        type, told = head.removeprefix("data:").partition(";")[0] or type, data
    elif "://" in told[:16]:
        return Media(type, url=told)
    try:
        return Media(type, base64.b64decode(told, validate=True))
    except (binascii.Error, ValueError):
        return Media(type, name="not base64")


def recalling(session: Session) -> list[tuple[Tool, Callable[[dict[str, Any]], str]]]:
    """The tools that reach what has left the window, each with what answers it."""

    def answers(name: str) -> Callable[[dict[str, Any]], str]:
        def answer(given: dict[str, Any]) -> str:
            found = session.run_context_tool(ToolCall("recall", name, wire.encode(given).decode()))
            return found.output if found else ""

        return answer

    return [(one, answers(one.name)) for one in recall_tools()]
