"""What was said in a rollout: replies of several items, questions, answers, compactions.

Rule 1: the items that a model sends one after the other are one message; an answer ends it.
Rule 2: a message in the user's name waits for the next record: an event after it says that a human
        has written it. Without one, its words tell whether the program did.
Rule 3: of a replacement, what was said before stays where it is; what was not is said anew, before
        the summary. So everything that Codex sends is visible, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.importers.codex import content as contents
from holdfast.importers.codex.history import Past, Seen, print_of
from holdfast.importers.codex.records import AGENT, Item
from holdfast.importers.jsonl import UNREADABLE, decode, rest
from holdfast.importers.values import table, text
from holdfast.model import wire
from holdfast.model.log import Trigger
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Record,
    Role,
    Subtask,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.transcript_events import Compacted, Kept, MessageRead, Rewound, TranscriptEvent

REPLIES = frozenset(
    """
    reasoning function_call custom_tool_call local_shell_call tool_search_call web_search_call
    image_generation_call compaction compaction_summary context_compaction
    """.split()  # noqa: SIM905
)
ANSWERS = frozenset(
    """
    function_call_output custom_tool_call_output local_shell_call_output tool_search_output
    """.split()  # noqa: SIM905
)
COMPACTIONS = ("compaction", "compaction_summary", "context_compaction")

TOLD = {
    "message": "content",
    "agent_message": "content",
    "reasoning": "encrypted_content",
    "custom_tool_call": "input",
    "image_generation_call": "result",
    "tool_search_output": "tools",
    "function_call": "arguments",
}
"""The member of an item that its parts say."""

SUMMARY = "Another language model started to solve this problem"
"""How the words begin that stand for what a local compaction has summarised."""

AGENTS = "agent_message"
"""What one agent tells another: it begins a turn, though no human has spoken."""

KEPT_WORDS = 20_000
"""How many tokens of the user's words an old compaction kept."""

MOST_ITEMS = 2_000
"""How many items are one message at most."""


class Asked(Struct):
    """A message in the user's name, until it is known who has written it."""

    content: Any
    time: int
    source: Item | None
    human: bool = False


class Reply(Struct):
    """What a model says, as far as its items have come."""

    created: int
    completed: int
    model: str
    parts: list[Part] = []
    records: list[Record] = []
    said: list[Any] = []
    """The content of its messages."""


class Talk:
    """One session's messages, as their items come."""

    def __init__(self) -> None:
        self.model, self.provider = "", "openai"
        self.past = Past()
        self.spoke = False
        """Whether a human has spoken since somebody looked."""
        self._number = 0
        self._reply: Reply | None = None
        self._asked: Asked | None = None
        self._compaction: Compacted | None = None
        self._announced = ""
        self._again = False
        self._calls: dict[str, str] = {}
        """The names of the tools that have not answered yet, by their calls."""

    def respond(
        self, payload: dict[str, Any], time: int, source: Item | None
    ) -> Iterator[TranscriptEvent]:
        """An item that a model has sent or was sent; without a source it is said anew."""
        kind, role = text(payload.get("type")), text(payload.get("role"))
        if kind == "message" and role == "assistant" and _is_agents(payload.get("content")):
            yield from self.close()
            yield from self._told("assistant", payload, time, source, scaffold=AGENTS)
        elif kind in REPLIES or (kind == "message" and role == "assistant"):
            yield from self._add(payload, time, source)
        elif kind in ANSWERS:
            yield from self.close()
            yield from self._answer(payload, time, source)
        elif kind == "message" and role == "user":
            yield from self.close()
            human = bool(self._announced) and self._announced in _texts(payload.get("content"))
            self._asked = Asked(payload.get("content"), time, source, human)
            self._announced = ""
        elif kind == "message" and role in ("developer", "system"):
            yield from self.close()
            yield from self._told(role, payload, time, source)  # type: ignore[arg-type]
        elif kind == "agent_message":
            yield from self.close()
            yield from self._told("user", payload, time, source, scaffold=AGENTS)
        else:
            yield from self.close()
            yield from [Kept(source.whole)] if source else []

    def confirm(self, words: str) -> None:
        """A human has written these words: just now, or they come next."""
        asked = self._asked
        if asked and words in _texts(asked.content):
            asked.human = True
        else:
            self._announced = words

    def settle(self) -> Iterator[TranscriptEvent]:
        """Whoever asked, nobody has confirmed it."""
        asked, self._asked = self._asked, None
        if asked:
            yield from self._question(asked)

    def close(self, *, open: bool = False) -> Iterator[TranscriptEvent]:
        """Tell what is waiting; `open` says that more of it may come."""
        compaction, self._compaction = self._compaction, None
        if compaction:
            yield compaction
        yield from self.settle()
        reply, self._reply = self._reply, None
        if reply:
            message = Message("assistant", tuple(reply.parts))
            said = reply.said if not message.calls else []
            print = print_of("assistant", said[0]) if len(said) == 1 else 0
            yield self._say(
                message, reply.created, tuple(reply.records), Seen("", print), open=open,
                completed=reply.completed, provider=self.provider, model=reply.model,
            )  # fmt: skip

    def roll_back(self, turns: int, time: int) -> Iterator[TranscriptEvent]:
        """The newest turns are taken back."""
        yield from self.close()
        to = self.past.roll_back(turns)
        if to is not None:
            yield Rewound(to=to, created=time, reason=f"rolled back {turns} turns")

    def _say(
        self, message: Message, time: int, records: tuple[Record, ...], seen: Seen,
        *, turn: bool = False, open: bool = False, completed: int = 0, **labels: str,
    ) -> MessageRead:  # fmt: skip
        self._number += 1
        native = str(self._number)
        self.past.say(replace(seen, native=native), turn=turn and not self._again)
        return MessageRead(
            message=message, created=time, completed=completed or time, native=native,
            records=records, open=open, **labels,
        )  # fmt: skip

    def _add(
        self, payload: dict[str, Any], time: int, source: Item | None
    ) -> Iterator[TranscriptEvent]:
        """An item of a reply."""
        if self._asked or self._compaction or (self._reply and self._full(self._reply)):
            yield from self.close()
        place = len(self._reply.parts) if self._reply else 0
        id = f"call-{self._number + 1}-{place}"
        parts = contents.replied(payload, self.provider, self.model, id)
        if not parts:
            if source:
                yield Kept(source.whole)
            return
        if self._reply is None:
            self._reply = Reply(time, time, self.model, [], [], [])
        self._reply.parts += parts
        self._reply.records += left(source)
        self._reply.completed = time
        if payload.get("type") == "message":
            self._reply.said.append(payload.get("content"))
        self._calls |= {part.id: part.name for part in parts if isinstance(part, ToolCall)}

    def _full(self, reply: Reply) -> bool:
        return len(reply.parts) >= MOST_ITEMS

    def _answer(
        self, payload: dict[str, Any], time: int, source: Item | None
    ) -> Iterator[TranscriptEvent]:
        id = text(payload.get("call_id")) or text(payload.get("id"))
        result = contents.answered(payload, id, self._calls.pop(id, ""))
        parts: tuple[Part, ...] = (result, *_subtask(result))
        yield self._say(Message("tool", parts), time, left(source), Seen(""))

    def _question(self, asked: Asked) -> Iterator[TranscriptEvent]:
        parts = contents.spoken(asked.content, human=asked.human)
        if not parts:
            if asked.source:
                yield Kept(asked.source.whole)
            return
        own = [p for p in parts if isinstance(p, Media) or (isinstance(p, Text) and not p.scaffold)]
        size = sum(len(p.text.encode("utf-8", "replace")) for p in own if isinstance(p, Text))
        seen = Seen(
            "", print_of("user", asked.content), context=not own, words=-(-size // 4) if own else 0
        )
        self.spoke = self.spoke or bool(own)
        message = Message("user", tuple(parts))
        yield self._say(message, asked.time, left(asked.source), seen, turn=bool(own))

    def _told(
        self,
        role: Role,
        payload: dict[str, Any],
        time: int,
        source: Item | None,
        scaffold: str = "",
    ) -> Iterator[TranscriptEvent]:
        """What the program, or another agent, tells the model."""
        parts = contents.spoken(payload.get("content"), human=True)
        told = [replace(p, scaffold=scaffold) if isinstance(p, Text) else p for p in parts]
        if told:
            seen = Seen("", print_of(role, payload.get("content")), context=not scaffold)
            message = Message(role, tuple(told))
            yield self._say(message, time, left(source), seen, turn=bool(scaffold))
        elif source:
            yield Kept(source.whole)

    def compact(
        self, item: Item, trigger: Trigger, before: int, window: int = 0
    ) -> Iterator[TranscriptEvent]:
        """The past is replaced."""
        yield from self.close()
        said, history = item.text("message"), item.payload.get("replacement_history")
        sealed: list[Part] = []
        if type(history) is list:
            base, kept, anew, said = self._sorted_out(history, said, sealed)
            self._again = True
            for one in anew:
                yield from self.respond(one, item.time, None)
            yield from self.close()
            self._again = False
            kept |= {str(number) for number in range(base + 1, self._number + 1)}
        else:
            kept = set(self.past.humans(KEPT_WORDS))
        self._number += 1
        self.past.compact(kept, str(self._number))
        self._compaction = Compacted(
            text=said, created=item.time, native=str(self._number), trigger=trigger, before=before,
            model=self.model, provider=self.provider, kept=tuple(sorted(kept, key=int)),
            opaque=tuple(sealed), records=(item.whole,), window=window,
        )  # fmt: skip

    def _sorted_out(
        self, history: list[Any], said: str, sealed: list[Part]
    ) -> tuple[int, set[str], list[dict[str, Any]], str]:
        """Of a replacement: what is kept, what is to be said anew, and its summary."""
        known, kept, anew = self.past.index(), set[str](), list[dict[str, Any]]()
        items = [one for one in history if type(one) is dict]
        for place, one in enumerate(items):
            if one.get("type") in COMPACTIONS:
                sealed += contents.replied(one, self.provider, self.model, "")
                continue
            words = "\n".join(_texts(one.get("content"))) if one.get("role") == "user" else ""
            if place == len(items) - 1 and words and (words == said or words.startswith(SUMMARY)):
                said = words
                continue
            same = known.get(print_of(text(one.get("role")), one.get("content")))
            if one.get("type") == "message" and same:
                kept.add(same.pop())
            else:
                anew.append(one)
        return self._number, kept, anew, said

    def weighed(self, after: int) -> None:
        """How much is left after a compaction that was just told."""
        if self._compaction:
            self._compaction = replace(self._compaction, after=after)


def left(source: Item | None) -> tuple[Record, ...]:
    """What an item's record says besides what its parts do."""
    if source is None:
        return ()
    member = TOLD.get(source.sub, "output" if source.sub in ANSWERS else "")
    value = source.payload.get(member)
    if not member or type(value) not in (str, list):
        return (Record(AGENT, source.name, source.found.data, source.found.line),)
    record = rest(AGENT, source.name, source.found, *source.path, member)
    if type(value) is str or (source.sub == "message" and contents.is_plain(value)):
        return (record,)
    data = wire.encode(contents.thinned(value))
    return (record, Record(AGENT, f"{source.name}.{member}", data, source.found.line))


def _subtask(result: ToolResult) -> list[Subtask]:
    """The session of an agent that was set to work."""
    if result.name != "spawn_agent" or not result.output.startswith("{"):
        return []
    try:
        told = table(decode(result.output.encode("utf-8", "surrogatepass")))
    except UNREADABLE:
        return []
    agent = text(told.get("agent_id")) or text(told.get("thread_id"))
    return [Subtask(agent)] if agent else []


def _is_agents(content: Any) -> bool:
    """Whether a message is what another agent says, as it was written before it had a kind."""
    words = _texts(content)
    if len(words) != 1 or not (words[0].startswith("{") and '"recipient"' in words[0]):
        return False
    try:
        told = table(decode(words[0].encode("utf-8", "surrogatepass")))
    except UNREADABLE:
        return False
    return {"author", "recipient", "content"} <= told.keys()


def _texts(content: Any) -> list[str]:
    """The texts of a message, and all of them together."""
    if type(content) is not list:
        return [content] if type(content) is str else []
    found = [words for one in content if (words := text(table(one).get("text")))]
    return [*found, "\n".join(found)] if len(found) > 1 else found
