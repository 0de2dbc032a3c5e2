"""Holdfast as the memory of a LangChain or LangGraph agent: a middleware around each model call.

Rule 1: what the agent's state holds is appended once, known by its message id; a checkpointer may
        tell the whole past each time, and where there is none Holdfast has it.
Rule 2: the model sees the window in place of the state; the state itself is not changed.
Rule 3: a thread has a session of its own, whoever else the agent serves; each model call opens it
        for itself, so that calls under way at once share nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast

from holdfast.core.window.recall import recall_tools
from holdfast.engine.blocking import Session
from holdfast.engine.client import Holdfast
from holdfast.errors import InvalidRequest
from holdfast.frameworks.kept_messages import (
    Conversation,
    Known,
    conversation_id,
    keep,
    kept,
    medium,
    thought,
    words,
)
from holdfast.model import wire
from holdfast.model.message import Message, Part, Role, Text, ToolCall, ToolResult
from holdfast.model.reply import Reply, Usage
from holdfast.model.window import Block, Tool

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        BaseMessage,
        HumanMessage,
        ToolMessage,
        messages_from_dict,
    )
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.config import get_config
except ImportError as absent:
    raise InvalidRequest("this adapter needs LangChain 1.x; pip install langchain") from absent

NAME = "langchain"


class HoldfastMiddleware(AgentMiddleware):
    """Keeps what is said in sessions of Holdfast, and shows the model its window.

    Given a door, as `holdfast.open` makes it, each thread has the session of its `thread_id`, made
    when it is first heard of; `made_with` is what `hf.session(…)` takes: model, policy, summariser
    and so on. Given a session it serves that one, and refuses a second thread.
    """

    def __init__(self, memory: Holdfast | Session, **made_with: Any) -> None:
        super().__init__()
        if isinstance(memory, Session) and made_with:
            raise InvalidRequest(
                f"a session is as it was made; give {', '.join(made_with)} to hf.session(…)"
            )
        if not isinstance(cast("object", memory), (Holdfast, Session)):
            raise InvalidRequest(
                "the middleware takes what holdfast.open(…) gives, or a session of it"
            )
        self._memory, self._made_with = memory, made_with
        self._thread: str | None = None
        """The thread that the one session serves."""
        self._known = Known()
        self.tools = [_tool(one, self._answer) for one in recall_tools()]
        """`recall` and `search_history`, which the agent gets with the middleware."""

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the model its window, and append what it answers."""
        conversation = Conversation(self.session())
        response = handler(request.override(messages=self._window(conversation, request)))
        self._take(conversation, response.result, fresh=True)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The same, awaited."""
        conversation = Conversation(await asyncio.to_thread(self.session))
        window = await asyncio.to_thread(self._window, conversation, request)
        response = await handler(request.override(messages=window))
        await asyncio.to_thread(self._take, conversation, response.result, fresh=True)
        return response

    def session(self, thread_id: str = "") -> Session:
        """The session of a thread; of the one that is being run, where none is named."""
        thread = conversation_id(thread_id) if thread_id else _running()
        if isinstance(self._memory, Holdfast):
            if not thread:
                raise InvalidRequest(
                    "name the thread, so that nobody gets another one's session: "
                    "agent.invoke(…, {'configurable': {'thread_id': …}})"
                )
            return self._memory.session(thread, create=True, **self._made_with)
        if thread and self._thread not in (None, thread):
            raise InvalidRequest(
                f"this middleware was given one session, which serves the thread {self._thread!r}, "
                f"and the thread {thread!r} is another; give it what holdfast.open(…) gives"
            )
        self._thread = thread or self._thread
        return self._memory

    def messages(self, thread_id: str = "") -> list[AnyMessage]:
        """What the model would see now of a thread, as LangChain's own messages."""
        return written(Conversation(self.session(thread_id)).shown())

    def _answer(self, name: str, given: dict[str, Any]) -> str:
        found = self.session().run_context_tool(
            ToolCall("recall", name, wire.encode(given).decode())
        )
        return found.output if found else ""

    def _window(self, conversation: Conversation, request: ModelRequest[Any]) -> list[AnyMessage]:
        self._take(conversation, request.messages)
        tools = [convert_to_openai_tool(t) if isinstance(t, BaseTool) else t for t in request.tools]
        system = str(request.system_prompt or "")
        return written(conversation.prepared(system, tools, _limit(request)))

    def _take(
        self, conversation: Conversation, told: Sequence[BaseMessage], *, fresh: bool = False
    ) -> None:
        """Append what is not known yet; told twice, a message is there once, unless it is fresh."""
        session = conversation.session
        for message in told:
            id = message.id or ""
            if id and not fresh and self._known.has(session.id, id):
                continue
            key = f"{NAME} {id}" if id else ""
            if isinstance(message, AIMessage):
                conversation.answered(_reply(message), key=key, fresh=fresh)
            else:
                session.append(read(message), key=key)
            if id:
                self._known.add(session.id, id)


def _running() -> str:
    """The session's id of the thread that is being run: a graph within a graph has its own."""
    with suppress(RuntimeError):  # nothing is being run
        told = get_config().get("configurable", {})
        if (thread := told.get("thread_id")) not in (None, ""):
            spaces = str(told.get("checkpoint_ns") or "").split("|")[:-1]  # the last is a node
            return conversation_id(str(thread), *(space.partition(":")[0] for space in spaces))
    return ""


LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")
"""What LangChain's chat models call the longest reply."""


def _limit(request: ModelRequest[Any]) -> object:
    """How long a reply may be: as this call says, else as its model was made."""
    named = (request.model_settings.get(name) for name in LIMITS)
    made = (getattr(request.model, name, None) for name in LIMITS)
    return next((found for found in (*named, *made) if found), None)


def read(message: BaseMessage) -> Message:
    """A message of LangChain's as one of ours, the original with it."""
    if isinstance(message, ToolMessage):
        failed, name = message.status == "error", message.name or ""
        made = ToolResult(message.tool_call_id, str(message.text), failed, name)
        return Message("tool", keep([made], NAME, _dumped(message)))
    role = _ROLES.get(message.type, "user")
    if message.model_dump(exclude={"id"}) == HumanMessage(str(message.text)).model_dump(
        exclude={"id"}
    ):
        return Message(role, (Text(str(message.text)),))
    return Message(role, keep(list(_parts(message)), NAME, _dumped(message)))


_ROLES: dict[str, Role] = {"ai": "assistant", "system": "system", "human": "user"}


def _dumped(message: BaseMessage) -> dict[str, Any]:
    """A message as JSON; what a tool kept for its program alone stays there where it is none."""
    try:
        return {"type": message.type, "data": message.model_dump(mode="json")}
    except (TypeError, ValueError):
        return {"type": message.type, "data": message.model_dump(mode="json", exclude={"artifact"})}


def _parts(message: BaseMessage) -> Iterator[Part]:
    for block in cast("list[dict[str, Any]]", message.content_blocks):
        match block.get("type"):
            case "text":
                yield Text(block.get("text", ""))
            case "reasoning":
                secret = wire.encode(block.get("extras") or {}).decode()
                yield thought(block.get("reasoning", ""), NAME, secret)
            case "tool_call":
                given = wire.encode(block.get("args") or {}).decode("utf-8", "surrogatepass")
                yield ToolCall(block.get("id") or "", block["name"], given)
            case "image" | "audio" | "video" | "file":
                told = block.get("base64") or block.get("url") or ""
                yield medium(block.get("mime_type") or "application/octet-stream", told)
            case _:
                yield Text(wire.encode(block).decode("utf-8", "surrogatepass"))


def _reply(message: AIMessage) -> Reply:
    told: dict[str, Any] = message.response_metadata
    body = read(message)
    return Reply(
        message=body,
        stop="tools" if body.calls else "end",
        usage=_usage(message.usage_metadata),
        model=told.get("model_name") or told.get("model") or "",
        provider=told.get("model_provider") or "",
        request=told.get("id") or "",
    )


def _usage(told: Any) -> Usage:
    """The four buckets; LangChain's input counts everything that was sent."""
    if not told:
        return Usage()
    sent, said = told.get("input_token_details") or {}, told.get("output_token_details") or {}
    read, written = sent.get("cache_read") or 0, sent.get("cache_creation") or 0
    return Usage(
        input=max(told["input_tokens"] - read - written, 0),
        cache_read=read,
        cache_write=written,
        output=told["output_tokens"],
        reasoning=said.get("reasoning") or 0,
    )


def written(blocks: Sequence[Block]) -> list[AnyMessage]:
    """LangChain's messages for these blocks."""
    found: list[Any] = []
    for block in blocks:
        if block.role == "tool":
            found += [_answer(part) for part in block.parts]
        elif original := kept(block.parts, NAME):
            found += messages_from_dict([original])
        elif block.role == "assistant":
            found.append(_said(block))
        else:
            found.append(HumanMessage(words(block)))
    return found


def _answer(part: Part) -> BaseMessage:
    if not isinstance(part, ToolResult):
        return HumanMessage(getattr(part, "text", ""))
    if original := kept([part], NAME):
        return messages_from_dict([original])[0]
    status = "error" if part.error else "success"
    return ToolMessage(part.output, tool_call_id=part.call, name=part.name, status=status)


def _said(block: Block) -> AIMessage:
    """What is left of a message of the model: its words and its calls."""
    calls = [p for p in block.parts if isinstance(p, ToolCall)]
    asked = [{"name": c.name, "args": c.fields, "id": c.id, "type": "tool_call"} for c in calls]
    return AIMessage(content=words(block), tool_calls=asked)


def _tool(one: Tool, answer: Callable[[str, dict[str, Any]], str]) -> BaseTool:
    return StructuredTool.from_function(
        lambda **given: answer(one.name, given),
        name=one.name,
        description=one.description,
        args_schema=one.schema,
    )
