"""Asking a model for something on the side: a summary, notes. Bounded, priced, never trusted.

A question is a window of its own, so that whoever answers it can send it as any other:
`client.messages.create(**question.request("anthropic"))`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct, convert
from msgspec.structs import replace

from holdfast.core.calls.price import dearest
from holdfast.core.tokens.count import MESSAGE
from holdfast.core.tokens.estimate import BOUND, estimate
from holdfast.core.window.budget import budget as allot
from holdfast.engine.calls.record import call_record, record_call
from holdfast.engine.calls.response import read_reply
from holdfast.engine.usage import caps
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import HoldfastError, Overflow, Refused
from holdfast.model.log import Folded
from holdfast.model.message import Message, Role, Text, assistant
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.reply import Call, Reply, Stop
from holdfast.model.window import Block, BudgetConfig, Count, Options, SectionName, Tool, Window

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

CAUSES = frozenset({"summary", "verify", "notes"})
"""Why maintenance calls are made; all of them are guarded together."""

KNOWLEDGE = frozenset({"memory", "recall"})
"""Calls made for notes that outlive the session; they have a cap of their own."""

SUMMARIES = frozenset({"summary", "verify"})
"""What bounds a summary: notes that cost much or fail must not leave it without a model."""

SAID = 16
"""An answer beside calls has so many tokens: the calls are not made, the words are what counts."""

FREE = 20_000_000
"""What maintenance may cost whatever the session has cost: two cents."""

LOOKED_AT = 32
"""How many of the newest calls the breaker looks at."""

COOLED = 15 * 60_000
"""The breaker lets one more try through after so many milliseconds."""


class Question(PreparedWindow):
    """What a model is asked on the side."""

    holds_replies = False  # whoever asks has made sure of that, by a better count than its own

    def __init__(
        self,
        profile: Profile,
        system: str,
        prompt: str,
        *,
        cause: str,
        most: int,
        before: Sequence[Block] = (),
        tools: Sequence[Tool] = (),
        timeout: float = 0.0,
        effort: str = "",
        like: Like | None = None,
        calls: bool = False,
    ) -> None:
        """With `like` it is that request with one message more, so that its cache is read.
        With `calls` whoever asks answers the tools that are called."""
        self.model = profile.name
        self.system, self.prompt = system, prompt
        self.cause = cause
        most = min(most, profile.output_limit)
        self.max_tokens = most
        self._like = like
        self.timeout, self.effort, self.calls = timeout, effort, calls
        blocks = (*before, *_blocks(system, prompt, bare=not before))
        tokens = sum(block.tokens for block in blocks)
        marks = like.breakpoints if like else ()
        window = Window(
            model=profile.name,
            blocks=blocks,
            budget=allot(profile, BudgetConfig(output_reserve=most)),
            tools=tuple(tools),
            tokens=Count(tokens=tokens),
            breakpoints=tuple(at for at in marks if at < len(before)),
        )
        choice = "none" if tools and not calls else ""
        options = Options(max_tokens=most, effort=effort, tool_choice=choice, cache=bool(before))
        super().__init__(
            window, profile, folded=Folded(), head=0, estimated=tokens, options=options
        )

    def _chosen(self, told: dict[str, Any], format: str = "") -> Options:
        """The options of the request it is like, where it is written in the same format."""
        if self._like and self._like.format in ("", format):
            self._options = replace(self._like.options, max_tokens=self.max_tokens)
        return super()._chosen(told, format)


class Like(Struct, frozen=True, kw_only=True):
    """The request that a question is put behind, and where its cache ends."""

    format: str = ""
    """Empty where none is known: any format then."""
    options: Options = Options()
    breakpoints: tuple[int, ...] = ()


PREFIX = frozenset({
    "betas", "cache_control", "cached_content", "config", "extra_headers", "include", "mcp_servers",
    "metadata", "parallel_tool_calls", "prompt_cache_key", "prompt_cache_retention", "reasoning",
    "reasoning_effort", "safety_identifier", "service_tier", "speed", "store", "thinking",
    "thinking_config", "tool_choice", "tool_config", "user",
})  # fmt: skip
"""Fields of a request that a cache may depend on; others, such as the format of the answer, are of
the turn alone."""

FREELY = ("", "auto", "none")
"""Choices of tools that let a model answer in words."""


def like(call: Call | None, breakpoints: tuple[int, ...]) -> Like:
    """What a question has of the newest request, so that it reads what that one has cached.

    Anthropic drops the messages it has cached when the tool choice, the thinking or the effort of a
    request is another one. A choice that forces a call is left: nobody could answer in words.
    """
    if call is None or not call.format:
        return Like(breakpoints=breakpoints)
    sent = convert(call.options, Options)
    words = sent.tool_choice in FREELY if isinstance(sent.tool_choice, str) else False
    extra = {name: value for name, value in sent.extra.items() if name in PREFIX}
    config = extra.get("config")
    if isinstance(config, dict):
        kept = cast("dict[str, Any]", config)
        extra["config"] = {name: value for name, value in kept.items() if name in PREFIX}
    edits = [one for one in sent.server_edits.get("edits", ()) if not _compacts(one)]
    return Like(
        format=call.format,
        options=replace(
            sent,
            stream=False,
            tool_choice=sent.tool_choice if words else "none",
            extra=extra,
            server_edits={"edits": edits} if edits else {},
        ),
        breakpoints=breakpoints,
    )


def _compacts(edit: dict[str, Any]) -> bool:
    return str(edit.get("type")).startswith("compact")


def _blocks(system: str, prompt: str, *, bare: bool) -> list[Block]:
    said = [_block("system", "system", system)] if bare and system else []
    return [*said, _block("current", "user", prompt)]


def _block(section: SectionName, role: Role, text: str) -> Block:
    return Block(
        section=section,
        role=role,
        parts=(Text(text),),
        tokens=estimate(text) + MESSAGE,
        source="question",
        rule="asked",
    )


def room_for(profile: Profile, most: int) -> int:
    """What a question may take, in estimated tokens, so that it surely fits its model."""
    budget = allot(profile, BudgetConfig(output_reserve=most))
    return int(budget.room / (max(profile.ratio, 1.0) * (1 + BOUND)))


class Answer(Struct, frozen=True, kw_only=True):
    """What came back: text, why it ended, what it cost."""

    text: str = ""
    stop: Stop = "error"
    cost: int = 0
    overflow: bool = False
    refused: bool = False
    """Whether no request could be made of the question."""
    called: bool = False
    """Whether it asked for tools."""
    message: Message | None = None
    """All that was said, with the tools that were asked for."""
    error: str = ""


class Guard:
    """What bounds the maintenance calls of a session: failures in a row, and money."""

    def __init__(self, session: SessionContext, policy: Policy) -> None:
        self._session = session
        self._breaker = policy.breaker
        self._spend = policy.spend

    async def why_not(self, cause: str = "summary") -> str:
        """Why no model is asked now; empty where one may be."""
        session, counted = self._session, CAUSES if cause == "notes" else SUMMARIES
        calls = [
            one
            for one in await session.store.calls.newest(session.id, LOOKED_AT)
            if one.cause in counted
        ]
        failed = 0
        for call in calls:
            if call.outcome == "done":
                break
            failed += 1
        if failed >= max(self._breaker, 1) and 0 <= session.now() - (calls[0].ended or 0) < COOLED:
            return f"the last {failed} maintenance calls failed"
        spent = await session.store.calls.spent(session.id, by=("cause",))
        upkeep = sum(one.cost for one in spent if one.cause in counted)
        turns = sum(one.cost for one in spent if one.cause not in CAUSES | KNOWLEDGE)
        most = FREE + int(turns * self._spend)
        if upkeep > most:
            return f"maintenance has cost {upkeep / 1e9:.4f} USD, and {most / 1e9:.4f} is the most"
        return ""


async def ask(
    session: SessionContext, question: Question, sound: Callable[[Answer], bool] | None = None
) -> Answer:
    """Ask, and record the call however it ends; whatever fails is an answer that says so.

    An answer that is not `sound` counts as a call that failed. What could reach a cap is not asked.
    """
    sure = max(question.profile.ratio, 1.0) * (1 + BOUND)
    most = (int(question.tokens * sure), question.max_tokens)
    if why := await caps.why_not(session, question.profile, *most):
        return Answer(error=why)
    held = dearest(question.profile, *most) or 0
    with session.held.holding(session.whole(), held):
        return await _heard(session, question, sound)


async def _heard(
    session: SessionContext, question: Question, sound: Callable[[Answer], bool] | None
) -> Answer:
    started = session.now()
    try:
        voice = session.upkeep.voice
        assert voice is not None
        told = await voice(question)
        reply = told if isinstance(told, Reply) else _read(told)
    except Exception as error:
        await _record(session, question, started, None, done=False)
        return Answer(
            error=f"{type(error).__name__}: {_words(error)}"[:300],
            overflow=_is_long(error),
            refused=isinstance(error, Refused),
        )
    calls = reply.stop == "tools"
    answered = estimate(reply.message.text) >= SAID  # fewer words only lead up to the calls
    fine = calls and (answered or question.calls)
    stop: Stop = "end" if fine else reply.stop
    heard = Answer(text=reply.message.text, stop=stop, called=calls, message=reply.message)
    done = stop == "end" and (sound is None or sound(heard))
    return replace(heard, cost=await _record(session, question, started, reply, done=done))


def _read(told: Any) -> Reply:
    if isinstance(told, str):
        return Reply(message=assistant(told), stop="end")
    return read_reply(told, "")[0]


def _words(error: Exception) -> str:
    """What an error says, where it can."""
    try:
        return str(error)
    except Exception:
        return "it does not say what"


def _is_long(error: Exception) -> bool:
    """Whether a model says that it was asked too much at once."""
    if isinstance(error, Overflow):
        return True
    said = _words(error).lower()
    told = ("context_length", "context window", "prompt is too long", "too many tokens")
    return not isinstance(error, HoldfastError) and any(words in said for words in told)


async def _record(
    session: SessionContext, question: Question, started: int, reply: Reply | None, *, done: bool
) -> int:
    answer = reply or Reply(message=assistant(""), stop="error")
    call = call_record(
        session,
        answer,
        question.profile,
        cause=question.cause,
        started=started,
        outcome="done" if done else "failed",
    )
    call = replace(call, model=question.model, provider=call.provider or question.profile.provider)
    await record_call(session, call)
    return call.cost or 0
