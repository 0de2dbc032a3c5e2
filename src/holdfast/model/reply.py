"""What came back from a model, and what it cost.

Rule 1: the four buckets are disjoint; their sum is everything that was processed.
Rule 2: reasoning is an 'of which' of output, never added to it.
Rule 3: money is whole billionths of a US dollar, so that sums are exact.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.model.message import Message

Stop = Literal["end", "tools", "length", "refused", "paused", "compaction", "aborted", "error"]

Outcome = Literal["running", "done", "aborted", "failed", "imported", "lost"]
"""How a call ended; of a `lost` one the usage is unknown, since an old store overwrote its row."""


class Usage(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Tokens of one call, in four disjoint buckets."""

    input: int = 0
    """Read afresh: neither from the cache nor into it."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """Of which reasoning; already in `output`."""
    cache_write_long: int = 0
    """Of which written for an hour; already in `cache_write`."""
    tier: str = ""
    """How it was served, where that has a price of its own: `fast`, `priority`, `flex`, `batch`;
    empty for the usual way."""

    @property
    def prompt(self) -> int:
        """Everything that was sent."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """Everything that was processed."""
        return self.prompt + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cache_write_long=self.cache_write_long + other.cache_write_long,
            tier=self.tier if self.tier == other.tier else "",
        )


class Iteration(Usage, frozen=True, omit_defaults=True, kw_only=True):
    """One sampling of a call that took several."""

    type: str = ""
    """What it was for: `message`, `compaction`, or another word of the provider's."""
    model: str = ""
    """Who was sampled, where that is told; otherwise the model of the call."""


class Call(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call of a model: a row at its start, completed at its end."""

    id: str
    session: str
    started: int
    cause: str = "turn"
    """Why it was made: turn, summary, notes, title, …"""
    provider: str = ""
    model: str = ""
    request: str = ""
    """The provider's id of the reply; alone it identifies nothing, since some servers repeat it."""
    content: str = ""
    """A hash of the reply's message: a reply is the same one again if this and `request` are."""
    entry: str = ""
    """The entry that holds the reply."""
    usage: Usage = Usage()
    iterations: tuple[Iteration, ...] = ()
    cost: int | None = None
    """In billionths of a US dollar; None where no price is known."""
    price_version: str = ""
    ended: int | None = None
    outcome: Outcome = "running"
    stop: Stop | None = None
    request_hash: str = ""
    """SHA-256 of the request as it was sent."""
    format: str = ""
    """The wire format it was sent in."""
    given: str = ""
    """The hash of what the call was given besides the log: system prompt, tools, options."""
    options: dict[str, Any] = {}
    """The options the request was made with."""
    estimated: int = 0
    """What the prompt was estimated at before it was sent, uncalibrated; 0 where the provider has
    read something else."""
    head: int = 0
    """The newest entry that the prompt took into account."""
    epoch: int = 0
    """The newest marker that the prompt took into account."""
    window: int = 0
    """What the window holds, where another program made the call and said so."""

    def is_retold(self, later: Call) -> bool:
        """Whether a later call of the same session records this one's reply a second time.

        Two calls whose replies say the same in answer to different requests are two calls.
        """
        if not (self.request and self.content):
            return False
        same = (self.provider, self.request, self.content)
        sent = {self.request_hash, later.request_hash} - {""}
        return same == (later.provider, later.request, later.content) and len(sent) < 2

    def completed(self, later: Call) -> Call:
        """This call with what is recorded of it later; a smaller usage never replaces a larger.

        It stays the call behind the entry that held its reply first.
        """
        known = {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(later, name)) != getattr(_BLANK, name)
        }
        kept = {"id", "session", "started"}
        if self.entry:
            kept.add("entry")
        if self.ended is not None and later.id != self.id:
            kept.add("ended")  # it ended when it was told first
        if self.usage.total > later.usage.total and self.outcome != "lost":
            kept |= {"usage", "iterations", "cost", "price_version"}
        return replace(self, **{name: known[name] for name in known.keys() - kept})

    @property
    def last(self) -> Usage:
        """What its last sampling took: that tells how full the window is, the sum does not."""
        said = [one for one in self.iterations if one.type in ("", "message", "fallback_message")]
        return said[-1] if said else self.usage


_BLANK = Call(id="", session="", started=0)
"""What a field holds that nothing is known of."""

By = Literal["session", "model", "cause", "outcome", "quarter", "minute"]
"""What calls can be told apart by when they are summed."""

MINUTE = 60_000

QUARTER = 15 * MINUTE
"""A quarter of an hour, in ms: every time zone in use differs from the others by whole ones, so
that days anywhere are sums of quarters."""


class Spent(Struct, frozen=True, kw_only=True):
    """What some calls took together: those that are alike in what they were told apart by."""

    session: str = ""
    model: str = ""
    cause: str = ""
    outcome: str = ""
    quarter: int = 0
    """When the quarter of an hour began in which they did, in ms."""
    minute: int = 0
    """When the minute began in which they did."""
    calls: int = 0
    unpriced: int = 0
    """Calls that no price is known for."""
    cost: int = 0
    """In billionths of a US dollar, of the others."""
    usage: Usage = Usage()
    """The four buckets; what is an 'of which' of one of them is left out."""
    milliseconds: int = 0
    """How long they took, one after the other."""


class Delta(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A piece of a reply as it arrives, for whoever is looking on."""

    text: str = ""
    reasoning: str = ""
    tool: str = ""
    """The name of a tool whose call begins."""
    input: str = ""
    """A piece of a tool call's input."""
    index: int = 0
    waiting: float = 0.0
    """So many seconds until the provider is asked again; nothing of the reply has come yet."""


class Edit(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a provider did to the context by itself."""

    type: str
    cleared_tokens: int = 0
    cleared_tool_uses: int = 0
    cleared_thinking_turns: int = 0


class Reply(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What came back: a message whose parts are verbatim, why it ended, what it used."""

    message: Message
    stop: Stop
    usage: Usage = Usage()
    iterations: tuple[Iteration, ...] = ()
    """Each sampling of one call, where the provider tells; `usage` is their sum."""
    model: str = ""
    provider: str = ""
    request: str = ""
    """The provider's id of the reply."""
    edits: tuple[Edit, ...] = ()
    compaction: int | None = None
    """Which of its parts stands for all that was said before it, where the provider compacted."""
    error: str = ""
    """What the provider said when it failed inside a stream."""
