"""Ways to prepare a turn: ours, the floor beneath it, and how other libraries make a prompt fit.

All prepare the same conversation, which grows by an answer and a question between rounds, outside
the clock. Ours and the floor begin at the file and end at the bytes of a request, and these must be
the same bytes. The others begin with the whole conversation in memory, in their own classes, and
end with a list of messages, or only with a number: that is what they do.
"""

# pyright: reportMissingImports=false
# The peers are installed by `make bench` alone.

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.corpus import Said, conversation

ROOM = 128_000
MODEL = "bench"
SYSTEM = (
    "You are a careful engineer. Read before you change, test after, then say what you did. " * 12
)
TOOLS = [
    {
        "type": "function",
        "name": name,
        "description": f"{about}. Use it whenever the answer is not certain without it.",
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "string", "description": what} for key, what in fields},
            "required": [key for key, _ in fields],
        },
    }
    for name, about, fields in (
        ("read", "Read a file", (("path", "where it is"), ("range", "which lines"))),
        ("write", "Write a file", (("path", "where it goes"), ("text", "what it will hold"))),
        ("run", "Run a command", (("command", "what to run"), ("directory", "where"))),
        ("search", "Search the project", (("words", "what to look for"),)),
    )
]


class Step(msgspec.Struct):
    """One message of an agent's conversation, with the tool it calls or answers."""

    role: str
    text: str
    call: str = ""

    @property
    def input(self) -> str:
        """What the tool is called with."""
        return json.dumps({"command": f"make {self.call}", "directory": "src"})


def steps(count: int, seed: int = 1) -> Iterator[Step]:
    """The benchmark's conversation in which every tool's output has the call it answers."""
    return called(conversation(count, seed))


def called(said: Iterator[Said]) -> Iterator[Step]:
    """Messages, with a call in each one that a tool answers."""
    number, before = 0, next(said, None)
    while before is not None:
        after = next(said, None)
        calls = before.role == "assistant" and after is not None and after.role == "tool"
        number += calls
        name = f"call_{number}" if calls or before.role == "tool" else ""
        yield Step(before.role, before.text, name)
        before = after


class Growing:
    """A session in a file, and the conversation it holds; it grows as the benchmark goes on."""

    def __init__(self, folder: Path, length: int, name: str = "history") -> None:
        self.length = length
        self.said = list(steps(length))
        self.path = folder / f"{name}-{length}.db"
        self.hf = opened(self.path)
        self.held = self.hf.session(model=MODEL)
        for start in range(0, length, 1000):
            self.held.append_all([body(step) for step in self.said[start : start + 1000]])
        self.watchers: list[Callable[[Step], None]] = []
        self.grow(Step("user", "Where were we? " * 13))
        self.held.window(system=SYSTEM, tools=TOOLS)  # sheds, once, what has no room

    @property
    def id(self) -> str:
        return self.held.id

    def grow(self, *more: Step) -> None:
        """Something more is said."""
        for step in more:
            self.said.append(step)
            self.held.append(body(step))
            for watch in self.watchers:
                watch(step)

    def fresh(self, _: int = 0) -> bytes:
        """A turn prepared by a process that only has the store open."""
        return sent(self.hf.session(id=self.id))

    def kept_open(self, _: int = 0) -> bytes:
        """A turn prepared by whoever has held the session open since the last one."""
        return sent(self.held)

    def preview(self) -> Any:
        """What would be sent now, with nothing written."""
        return self.hf.session(id=self.id).preview(system=SYSTEM, tools=TOOLS)

    def close(self) -> None:
        self.hf.close()


def sent(session: Any) -> bytes:
    """The bytes of the request that a session sends now."""
    window = session.window(system=SYSTEM, tools=TOOLS)
    return msgspec.json.encode(window.request("openai-responses"))


def opened(path: Path) -> Any:
    """Holdfast on a file, with a catalogue of one model whose prompt may take 128k tokens."""
    from holdfast.engine.client import Holdfast, ThreadLock
    from holdfast.engine.engine import Engine
    from holdfast.engine.ids import SystemClock, Ulids
    from holdfast.stores.sqlite.store import SqliteStore

    clock = SystemClock()
    store = SqliteStore.open(path)
    engine = Engine(store, clock=clock, ids=Ulids(clock), lock=ThreadLock, catalogue=OneModel())
    return Holdfast(engine)


class OneModel:
    """A catalogue of one model, as large as the benchmark says."""

    def profile(self, model: str) -> Any:
        return _profile()

    def policy(self, name: str) -> Any:
        from msgspec.structs import replace

        from holdfast.policies import policy

        return replace(policy(name), strategy="off")  # the window stays full: nothing is summarised

    def prompt(self, name: str) -> str:
        from holdfast.policies import prompt

        return prompt(name)

    def models(self) -> tuple[str, ...]:
        return (MODEL,)

    def learn(self, model: str, **told: Any) -> Any:
        return _profile()


def _profile() -> Any:
    from holdfast.model.profile import Profile

    return Profile(
        name=MODEL, provider="openai", window=200_000, input_limit=ROOM, output_limit=16_384,
        tokenizer="o200k_base", abilities=frozenset({"tools", "thinking", "images", "cache_key"}),
    )  # fmt: skip


def body(step: Step) -> Any:
    """A message as Holdfast keeps it."""
    from holdfast.model.message import Message, Text, ToolCall, ToolResult

    if step.role == "tool":
        return Message("tool", (ToolResult(step.call, step.text),))
    call = (ToolCall(step.call, "run", step.input),) if step.call else ()
    return Message(step.role, (Text(step.text), *call))  # type: ignore[arg-type]


class Floor:
    """What has to be done at least: read counts and content newest first, write the request.

    It is told where the session's newest row is, what the window around the conversation looks
    like, and how many tokens of conversation there is room for; a text and its stored count are
    taken as they are, nothing is checked, repaired, remembered or explained.
    """

    def __init__(self, growing: Growing) -> None:
        from holdfast.model.message import Part
        from holdfast.stores.sqlite.connection import Sqlite

        self.growing = growing
        self.connection = Sqlite(growing.path).connection
        self.decode = msgspec.json.Decoder(Part).decode
        self.look()

    def look(self, *_: object) -> None:
        """Learn, outside the clock, what it is told: where the newest row is, and how much room."""
        from holdfast.stores.sql.keys import parts_of, place

        find = "SELECT n, head FROM sessions WHERE id = ?"
        rows: Any = self.connection.execute(find, (self.growing.id,)).fetchall()
        ((number, head),) = rows
        self.last = parts_of(place(number, head), place(number, head))[1]
        window = self.growing.preview()
        self.around = window.request("openai-responses")
        talk = [block for block in window.blocks if block.section in ("history", "current")]
        self.room = sum(block.tokens - 4 for block in talk)
        self.ahead = len(self.around["input"]) - sum(len(block.parts) for block in talk)

    def prepare(self, _: int = 0) -> bytes:
        """The request, from the rows."""
        rows: list[Any] = []
        taken = 0
        for row in self.connection.execute(_NEWEST, (self.last,)):
            taken += row[2]
            if taken > self.room:
                break
            rows.append(row)
        said = self.around["input"][: self.ahead]
        for _, role, _, data in reversed(rows):
            said.append(item(role, self.decode(data)))
        return msgspec.json.encode({**self.around, "input": said})

    def close(self) -> None:
        self.connection.close()


_NEWEST = (
    "SELECT p.place, e.role, p.estimate, p.data FROM parts p "
    "JOIN entries e ON e.place = p.place >> 12 WHERE p.place <= ? ORDER BY p.place DESC"
)


def item(role: str, part: Any) -> dict[str, Any]:
    """A part as an item of the request."""
    from holdfast.model.message import Text, ToolCall

    if isinstance(part, Text):
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": part.text}]
        return {"type": "message", "role": role, "content": content}
    if isinstance(part, ToolCall):
        return {
            "type": "function_call", "call_id": part.id, "name": part.name,
            "arguments": part.input,
        }  # fmt: skip
    return {"type": "function_call_output", "call_id": part.call, "output": part.output}


class Trimmed:
    """LangChain's trim_messages, as its documentation says, over messages that are in memory."""

    def __init__(self, said: Sequence[Step]) -> None:
        self.messages = [chat_message(Step("system", SYSTEM)), *map(chat_message, said)]

    def grow(self, step: Step) -> None:
        self.messages.append(chat_message(step))

    def approximate(self, _: int = 0) -> list[Any]:
        """With the approximate counter that LangChain brings."""
        from langchain_core.messages.utils import count_tokens_approximately

        return self._trim(count_tokens_approximately)

    def exact(self, _: int = 0) -> list[Any]:
        """With tiktoken."""
        return self._trim(tiktoken_counter())

    def _trim(self, counter: Any) -> list[Any]:
        from langchain_core.messages import trim_messages

        return trim_messages(
            self.messages, max_tokens=ROOM, token_counter=counter, strategy="last",
            start_on="human", include_system=True,
        )  # fmt: skip


def tiktoken_counter() -> Callable[[Sequence[Any]], int]:
    """Counts LangChain's messages exactly: content, calls, and four tokens around each message."""
    encode = o200k().encode_ordinary

    def count(messages: Sequence[Any]) -> int:
        return sum(4 + sum(len(encode(text)) for text in texts(one)) for one in messages)

    return count


def texts(message: Any) -> Iterator[str]:
    """What a message of LangChain says."""
    yield message.content
    for call in getattr(message, "tool_calls", ()):
        yield call["name"]
        yield json.dumps(call["args"])


def o200k() -> Any:
    """tiktoken with its vocabulary of that name."""
    from holdfast.counters.exact import encoding

    return encoding("o200k_base")


def chat_message(step: Step) -> Any:
    """A message as LangChain has it."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    if step.role == "tool":
        return ToolMessage(step.text, tool_call_id=step.call)
    if step.role == "assistant":
        args = json.loads(step.input)
        calls = [{"name": "run", "args": args, "id": step.call}] if step.call else []
        return AIMessage(step.text, tool_calls=calls)
    return (SystemMessage if step.role == "system" else HumanMessage)(step.text)


class Counted:
    """litellm's token_counter, over messages that are in memory: it counts, and trims nothing."""

    def __init__(self, said: Sequence[Step]) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # asks no server
        self.messages = [plain_message(Step("system", SYSTEM)), *map(plain_message, said)]

    def grow(self, step: Step) -> None:
        self.messages.append(plain_message(step))

    def count(self, _: int = 0) -> int:
        """As for gpt-4o, whose vocabulary is o200k_base."""
        from litellm import token_counter

        return token_counter(model="gpt-4o", messages=self.messages)


def plain_message(step: Step) -> dict[str, Any]:
    """A message as Chat Completions and litellm have it."""
    if step.role == "tool":
        return {"role": "tool", "tool_call_id": step.call, "content": step.text}
    message: dict[str, Any] = {"role": step.role, "content": step.text}
    if step.call:
        function = {"name": "run", "arguments": step.input}
        message["tool_calls"] = [{"id": step.call, "type": "function", "function": function}]
    return message
