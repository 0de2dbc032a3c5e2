"""Holdfast as the session of an OpenAI Agents SDK agent.

Rule 1: `get_items` gives what the model should see, made to fit; the log holds every item ever
        added, also those that were popped or cleared.
Rule 2: the SDK reads its session once a run. `fit` as `RunConfig.call_model_input_filter` fits the
        window again before each call of a run.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast
from weakref import ReferenceType, ref

from msgspec.structs import asdict

from holdfast.engine.blocking import Session
from holdfast.errors import InvalidRequest
from holdfast.frameworks.agents_items import Item, items, messages
from holdfast.frameworks.kept_messages import Conversation, recalling
from holdfast.model.message import Message
from holdfast.model.reply import Iteration, Reply, Usage
from holdfast.model.window import Block

try:
    from agents import FunctionTool, RunContextWrapper
    from agents.memory import SessionSettings
    from agents.run_config import CallModelData, ModelInputData
except ImportError as absent:
    raise InvalidRequest(
        "this adapter needs the OpenAI Agents SDK; pip install openai-agents"
    ) from absent

if TYPE_CHECKING:
    from agents.items import TResponseInputItem


class HoldfastSession:
    """An Agents SDK `Session` over a session of Holdfast; it may be shared among runs."""

    session_settings: SessionSettings | None = None

    def __init__(self, session: Session) -> None:
        if not isinstance(cast("object", session), Session):
            raise InvalidRequest(
                "HoldfastSession takes one session: hf.session(user_id, create=True)"
            )
        self._conversation = Conversation(session)
        self._session = session
        self._counted: dict[int, tuple[ReferenceType[Any], int]] = {}
        """How many calls of each run are in the log, by the usage that counts them."""
        self._model: ContextVar[str] = ContextVar("model", default="")
        """Which model a run asks."""
        self.session_id = session.id
        """Its name; another one after a conflict, when the writer goes on in a fork."""

    async def get_items(
        self, limit: int | None = None, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """What the model should see of the past, made to fit; with a limit the newest of it."""
        shown = items(await asyncio.to_thread(self._conversation.shown))
        told = shown if limit is None else shown[max(len(shown) - limit, 0) :]
        return cast("list[TResponseInputItem]", told)

    async def add_items(
        self, items: list[TResponseInputItem], wrapper: RunContextWrapper[Any] | None = None
    ) -> None:
        """Append items; durable when it returns."""
        made = messages(cast("list[Item]", items))
        used = self._used(wrapper) if any(m.role == "assistant" for m in made) else ()
        await asyncio.to_thread(self._append, made, used)
        self.session_id = self._session.id

    async def pop_item(
        self, wrapper: RunContextWrapper[Any] | None = None
    ) -> TResponseInputItem | None:
        """Take the newest item out of sight, and return it."""
        return cast("TResponseInputItem | None", await asyncio.to_thread(self._pop))

    async def clear_session(self, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Begin anew; what was said before stays in the log."""
        await asyncio.to_thread(self._session.rewind, 0, "cleared")

    async def fit(self, data: CallModelData[Any]) -> ModelInputData:
        """The window for one call of a run, for `RunConfig(call_model_input_filter=…)`."""
        told = data.model_data
        self._model.set(data.agent.model if isinstance(data.agent.model, str) else "")
        tools = [_described(tool) for tool in data.agent.tools if hasattr(tool, "name")]
        blocks = await asyncio.to_thread(
            self._conversation.prepared,
            told.instructions or "",
            tools,
            data.agent.model_settings.max_tokens,
        )
        return ModelInputData(
            input=cast("list[TResponseInputItem]", items(blocks)), instructions=told.instructions
        )

    def tools(self) -> list[FunctionTool]:
        """The tools `recall` and `search_history`, for the agent to reach what is not shown."""
        return [_tool(one, answer) for one, answer in recalling(self._session)]

    def _append(self, made: list[Message], used: tuple[Usage, ...]) -> None:
        if not used:
            self._session.append_all(made)
        for message in made if used else ():
            if message.role == "assistant" and used:
                self._conversation.answered(self._reply(message, used))
                used = ()
            else:
                self._session.append(message)

    def _reply(self, message: Message, used: tuple[Usage, ...]) -> Reply:
        each = tuple([Iteration(**asdict(one), type="message") for one in used])
        return Reply(
            message=message,
            stop="tools" if message.calls else "end",
            usage=sum(used[1:], used[0]),
            iterations=each if len(each) > 1 else (),
            model=self._model.get(),
        )

    def _used(self, wrapper: RunContextWrapper[Any] | None) -> tuple[Usage, ...]:
        """What the calls of a run took that are not in the log yet."""
        if wrapper is None:
            return ()
        told = wrapper.usage
        before = self._counted.get(id(told))
        known = before[1] if before and before[0]() is told else 0
        gone = [key for key, (run, _) in self._counted.items() if run() is None]
        for key in gone:
            del self._counted[key]
        self._counted[id(told)] = ref(told), len(told.request_usage_entries)
        return tuple(map(_usage, told.request_usage_entries[known:]))

    def _pop(self) -> Item | None:
        newest = next(iter(deque(self._session.visible(), 1)), None)
        if newest is None or not isinstance(newest.body, Message):
            return None
        body = newest.body
        shown = items([Block(section="history", role=body.role, parts=body.parts, entry="popped")])
        self._session.rewind(newest.seq - 1, "an item was popped")
        if body.role in ("assistant", "tool") and len(body.parts) > 1:
            self._session.append(Message(body.role, body.parts[:-1]))
        return shown[-1]


def _usage(told: Any) -> Usage:
    cached = told.input_tokens_details.cached_tokens or 0
    written = getattr(told.input_tokens_details, "cache_write_tokens", 0) or 0
    return Usage(
        input=max(told.input_tokens - cached - written, 0),
        cache_read=cached,
        cache_write=written,
        output=told.output_tokens,
        reasoning=told.output_tokens_details.reasoning_tokens or 0,
    )


def _described(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": getattr(tool, "description", ""),
        "parameters": getattr(tool, "params_json_schema", {"type": "object"}),
    }


def _tool(one: Any, answer: Any) -> FunctionTool:
    async def invoke(_: Any, given: str) -> str:
        return await asyncio.to_thread(answer, json.loads(given or "{}"))

    return FunctionTool(
        name=one.name, description=one.description, params_json_schema=one.schema,
        on_invoke_tool=invoke, strict_json_schema=False,
    )  # fmt: skip
