"""Holdfast as the memory of a pydantic-ai agent: a capability that processes its history.

Rule 1: what a run holds is appended once, known by what it is; a run may be given the past as its
        `message_history`, and where it is not Holdfast has it.
Rule 2: the model sees the window in place of the history; the history of the run is not changed.
Rule 3: runs share nothing but their session, and two conversations not even that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

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
    recalling,
    thought,
    words,
)
from holdfast.model import wire
from holdfast.model.message import Media, Message, Part, Text, ToolCall, ToolResult
from holdfast.model.reply import Reply, Usage
from holdfast.model.window import Block

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        BinaryContent,
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import RunContext, Tool
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as absent:
    raise InvalidRequest("this adapter needs pydantic-ai 2; pip install pydantic-ai") from absent

NAME = "pydantic-ai"


class HoldfastHistory(AbstractCapability[Any]):
    """Keeps what is said in sessions of Holdfast, and shows the model its window.

    Given a door, as `holdfast.open` makes it, each conversation has a session of its own: that of
    the `conversation_id` of a run, or of what `name(ctx)` says, such as the user in `ctx.deps`.
    `made_with` is what `hf.session(…)` takes. Given a session, every run goes on in that one: make
    one capability for each user then.
    """

    def __init__(
        self,
        memory: Holdfast | Session,
        name: Callable[[RunContext[Any]], str] | None = None,
        **made_with: Any,
    ) -> None:
        if not isinstance(cast("object", memory), (Holdfast, Session)):
            raise InvalidRequest(
                "the capability takes what holdfast.open(…) gives, or a session of it"
            )
        if isinstance(memory, Session) and (name or made_with):
            raise InvalidRequest(
                "a session is as it was made; give what holdfast.open(…) gives instead"
            )
        self._memory, self._name, self._made_with = memory, name, made_with
        self._known = Known()

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """It holds an open session, and is written into no file."""
        return None

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """What serves one run: its session, and nothing of another run's."""
        return _Run(await asyncio.to_thread(self._session, ctx), self._known)

    def messages(self, conversation: str = "") -> list[ModelMessage]:
        """What the model would see now of a conversation, as pydantic-ai's own messages."""
        if isinstance(self._memory, Session):
            return written(Conversation(self._memory).shown())
        session = self._memory.session(
            conversation_id(conversation), create=True, **self._made_with
        )
        return written(Conversation(session).shown())

    def _session(self, ctx: RunContext[Any]) -> Session:
        if isinstance(self._memory, Session):
            return self._memory
        name = self._name(ctx) if self._name else ctx.conversation_id
        if not isinstance(name, str) or not name:
            raise InvalidRequest(
                "name the conversation, so that nobody gets another one's session: "
                "agent.run(…, conversation_id=…), or HoldfastHistory(hf, lambda ctx: …)"
            )
        return self._memory.session(conversation_id(name), create=True, **self._made_with)


class _Run(AbstractCapability[Any]):
    """One run in its session."""

    def __init__(self, session: Session, known: Known) -> None:
        self._session, self._known = session, known
        self._conversation = Conversation(session)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None

    def get_toolset(self) -> FunctionToolset[Any]:
        """`recall` and `search_history`, which the agent gets with the capability."""
        return FunctionToolset([_tool(one, answer) for one, answer in recalling(self._session)])

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Append what is new, and show the model its window."""
        window = await asyncio.to_thread(self._window, request_context)
        return replace(request_context, messages=window)

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Append what the model answered."""
        await asyncio.to_thread(self._take, [response], fresh=True)
        return response

    def _window(self, asked: ModelRequestContext) -> list[ModelMessage]:
        self._take(asked.messages)
        given = asked.model_request_parameters
        tools = [
            {"name": t.name, "description": t.description, "parameters": t.parameters_json_schema}
            for t in (*given.function_tools, *given.output_tools)
        ]
        told = "\n\n".join(part.content for part in given.instruction_parts or ())
        limit = (asked.model_settings or {}).get("max_tokens")
        window = written(self._conversation.prepared(told, tools, limit))
        last = asked.messages[-1]
        if isinstance(last, ModelRequest) and isinstance(window[-1], ModelRequest):
            window[-1] = replace(window[-1], instructions=last.instructions)
        return window

    def _take(self, told: Iterable[ModelMessage], *, fresh: bool = False) -> None:
        """Append what is not known yet; told twice, a message is there once, unless it is fresh."""
        for message in told:
            dumped = ModelMessagesTypeAdapter.dump_json([_bare(message)])
            key = f"{NAME} {wire.digest(dumped).hex()}"
            if not fresh and self._known.has(self._session.id, key):
                continue
            if isinstance(message, ModelResponse):
                self._conversation.answered(_reply(message), key=key, fresh=fresh)
            else:
                for place, one in enumerate(read(message)):
                    self._session.append(one, key=f"{key} {place}")
            self._known.add(self._session.id, key)


def _bare(message: ModelMessage) -> ModelMessage:
    """A message without what a run adds to it on its way."""
    if isinstance(message, ModelRequest):
        return ModelRequest(parts=message.parts)
    return ModelResponse(parts=message.parts, timestamp=message.timestamp)


def read(message: ModelMessage) -> list[Message]:
    """A message of pydantic-ai's as ours, each part with its original."""
    if isinstance(message, ModelResponse):
        return [Message("assistant", keep(list(_said(message)), NAME, _dumped(message)))]
    tool: list[Part] = []
    user: list[Message] = []
    for part in message.parts:
        alone = _dumped(replace(message, parts=[part]))
        if (call := getattr(part, "tool_call_id", "")) and part.part_kind != "user-prompt":
            tool += keep([_result(part, call)], NAME, alone)
        else:
            role = "system" if isinstance(part, SystemPromptPart) else "user"
            user.append(Message(role, keep(list(_asked(part)), NAME, alone)))
    return [*([Message("tool", tuple(tool))] if tool else []), *user]


def _dumped(message: ModelMessage) -> Any:
    return ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]


def _result(part: Any, call: str) -> ToolResult:
    if isinstance(part, ToolReturnPart):
        return ToolResult(
            call, part.model_response_str(), part.outcome != "success", part.tool_name
        )
    return ToolResult(call, part.model_response(), True, part.tool_name or "")


def _asked(part: Any) -> Iterator[Text | Media]:
    content: Any = getattr(part, "content", "")
    for one in [content] if isinstance(content, str) else content:
        if isinstance(one, BinaryContent):
            yield Media(one.media_type, one.data)
        elif url := getattr(one, "url", ""):
            yield medium(getattr(one, "media_type", "image/*"), url)
        else:
            yield Text(str(one))


def _said(message: ModelResponse) -> Iterator[Part]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield Text(part.content)
        elif isinstance(part, ThinkingPart):
            yield thought(part.content, NAME, part.signature or "")
        elif isinstance(part, ToolCallPart):
            yield ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        else:
            yield Text(wire.encode(_dumped(replace(message, parts=[part]))["parts"]).decode())


def _reply(message: ModelResponse) -> Reply:
    (body,) = read(message)
    used = message.usage
    return Reply(
        message=body,
        stop="tools" if body.calls else "end",
        usage=Usage(
            input=max(used.input_tokens - used.cache_read_tokens - used.cache_write_tokens, 0),
            cache_read=used.cache_read_tokens,
            cache_write=used.cache_write_tokens,
            output=used.output_tokens,
            reasoning=used.details.get("reasoning_tokens", 0),
        ),
        model=message.model_name or "",
        provider=message.provider_name or "",
        request=message.provider_response_id or "",
    )


def written(blocks: Sequence[Block]) -> list[ModelMessage]:
    """pydantic-ai's messages for these blocks; what came as one request is one again."""
    found: list[ModelMessage] = []
    for block in blocks:
        if block.role == "assistant":
            original = kept(block.parts, NAME)
            found.append(_loaded(original) if original else _spoken(block))
        elif block.role == "tool":
            for part in block.parts:
                _add(found, _answer(part))
        else:
            original = kept(block.parts, NAME)
            fresh = ModelRequest(parts=[UserPromptPart(words(block))])
            _add(found, cast(ModelRequest, _loaded(original)) if original else fresh)
    return found


def _loaded(original: Any) -> ModelMessage:
    return ModelMessagesTypeAdapter.validate_python([original])[0]


def _add(found: list[ModelMessage], request: ModelRequest) -> None:
    """Put a request behind the others, or into the one that it was a part of."""
    last = found[-1] if found else None
    if isinstance(last, ModelRequest) and replace(last, parts=[]) == replace(request, parts=[]):
        found[-1] = replace(last, parts=[*last.parts, *request.parts])
    else:
        found.append(request)


def _answer(part: Part) -> ModelRequest:
    if not isinstance(part, ToolResult):
        return ModelRequest(parts=[UserPromptPart(getattr(part, "text", ""))])
    if original := kept([part], NAME):
        return cast(ModelRequest, _loaded(original))
    outcome = "failed" if part.error else "success"
    made = ToolReturnPart(part.name or "tool", part.output, part.call, outcome=outcome)
    return ModelRequest(parts=[made])


def _spoken(block: Block) -> ModelResponse:
    """What is left of a message of the model: its words and its calls."""
    parts: list[Any] = []
    for part in block.parts:
        if isinstance(part, Text):
            parts.append(TextPart(part.text))
        elif isinstance(part, ToolCall):
            parts.append(ToolCallPart(part.name, part.input, part.id))
    return ModelResponse(parts=parts)


def _tool(one: Any, answer: Any) -> Tool[Any]:
    return Tool.from_schema(lambda **given: answer(given), one.name, one.description, one.schema)
