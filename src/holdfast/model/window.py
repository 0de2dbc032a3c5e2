"""The window: exactly what will be sent, and the budget it must keep to.

Rule 1: a window is made of blocks in sections; the order is the policy's, stable first.
Rule 2: every block says where it comes from and which rule kept it.
Rule 3: every number says how it is known, and how far it may be off.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from msgspec import Struct

from holdfast.model.message import Part, Role
from holdfast.model.rate_limits import Limits
from holdfast.model.reply import Usage

Tier = Literal["estimate", "exact", "provider", "reported"]

SectionName = Literal[
    "system",
    "tools",
    "examples",
    "permissions",
    "developer",
    "instructions",
    "memory",
    "memory_guidance",
    "collaboration_mode",
    "realtime",
    "personality",
    "apps",
    "skills",
    "plugins",
    "commit_attribution",
    "session_guidance",
    "language",
    "output_style",
    "mcp",
    "scratchpad",
    "token_budget",
    "git_status",
    "cache_breaker",
    "date",
    "repo_map",
    "read_only_files",
    "context",
    "pins",
    "kept",
    "summary",
    "history",
    "chat_files",
    "current",
    "reminder",
]


class Count(Struct, frozen=True, kw_only=True):
    """A number of tokens, how it is known, and by how much it may be off."""

    tokens: int
    tier: Tier = "estimate"
    error: int = 0

    @property
    def most(self) -> int:
        """What it may be at the worst."""
        return self.tokens + self.error

    def __add__(self, other: Count) -> Count:
        tier = self.tier if self.tier == other.tier or not other.tokens else "estimate"
        return Count(tokens=self.tokens + other.tokens, tier=tier, error=self.error + other.error)


class Tool(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool the model may call; `schema` is the JSON Schema of its input."""

    name: str
    description: str = ""
    schema: dict[str, Any] = {}
    kind: str = "function"
    """`function`, `custom` (free text input), or a provider's own kind."""
    native: dict[str, Any] = {}
    """A provider's own tool, sent to its owner as it is."""
    owner: str = ""


class Block(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One message of the window, with its reason to be there."""

    section: SectionName
    role: Role
    parts: tuple[Part, ...]
    tokens: int = 0
    entry: str = ""
    """The id of the entry it shows; empty for what a source or the harness gave."""
    seq: int = 0
    source: str = ""
    """Where it comes from, for people: an entry, a file, a setting."""
    rule: str = ""
    """The rule that kept it."""
    provider: str = ""
    model: str = ""
    """Who said it, where a model did; its seals are echoed to no other."""
    bundle: str = ""
    """Blocks of one bundle that follow one another are one message where the format has several
    parts in one."""


class Shortage(Struct, frozen=True, kw_only=True):
    """Something besides all its tokens that a window has more of than it should."""

    what: Literal["bytes", "images", "tools", "breakpoints", "memory"]
    """`memory`: tokens of what was given as such, against its slice of the budget."""
    have: int
    limit: int


class BudgetConfig(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How the window is split, as a policy says it."""

    output: int = 0
    """What a reply may take whatever the model's own limit is; 0: what is reserved."""
    output_reserve: int = 32_000
    safety_margin_fraction: float = 0.05
    system_prompt_reserve: int = 0
    """What the system prompt and tools are known to take; 0: measured."""
    repo_map_fraction: float = 0.125
    repo_map_min: int = 1_024
    repo_map_max: int = 8_192
    repo_map_of: Literal["remaining", "window"] = "remaining"
    """What the fraction is taken of: what the system prompt leaves, or the whole window."""
    repo_map_without_files: int = 2
    """How many times as large it may be when no files are in the chat."""
    slices_shrink: bool = True
    """Whether a slice's lower bound gives way in a small window."""
    chat_history_fraction: float = 0.0625
    chat_history_min: int = 1_024
    chat_history_max: int = 8_192
    chat_history_capped: bool = False
    """Whether history keeps to its slice, or fills whatever is left."""
    tools_fraction: float = 0.1
    """Tools that may wait do so where all of them take more than this of the window; 0: never."""
    memory_fraction: float = 0.05
    memory_max: int = 8_192
    pins_fraction: float = 0.1
    usable_fraction: float = 1.0
    """The part of the window that is used at all."""
    usable_reserved: int = 0
    """Tokens kept free besides the output."""
    input_reserved: int = 0
    """Tokens kept free of a model's own input limit, where it has one."""


class Budget(Struct, frozen=True, kw_only=True):
    """What the window may hold, and how it is split."""

    window: int
    output: int
    margin: int
    room: int
    """What a prompt may take: window less output and margin, and at most the input limit."""
    system: int = 0
    """Of which system prompt and tools."""
    repo_map: int = 0
    memory: int = 0
    pins: int = 0
    chat_files: int = 0
    history: int = 0
    request_bytes: int = 0
    most_images: int = 0
    most_tools: int = 0
    most_breakpoints: int = 0


class Window(Struct, frozen=True, kw_only=True):
    """Exactly what will be sent: blocks in order, tools, breakpoints, and by how much over."""

    model: str
    blocks: tuple[Block, ...]
    budget: Budget
    tools: tuple[Tool, ...] = ()
    tokens: Count = Count(tokens=0)
    breakpoints: tuple[int, ...] = ()
    """Indices of blocks behind which a provider's cache may end; -1 is behind the tools."""
    over: int = 0
    """By how many tokens it is too large; 0 when it fits."""
    shortages: tuple[Shortage, ...] = ()
    asks: tuple[str, ...] = ()
    """What to ask the user before this is sent, where the policy says so."""

    def section(self, name: SectionName) -> tuple[Block, ...]:
        """The blocks of one section."""
        return tuple(block for block in self.blocks if block.section == name)


class Options(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a request is to be made, beyond what is in the window."""

    max_tokens: int = 0
    """What the reply may take; 0: the budget's output."""
    stream: bool = False
    thinking: int | dict[str, Any] | None = None
    """Tokens for thinking, where the model takes a number; None: as the provider does. Or as a
    provider writes it: `{"type": "enabled", "budget_tokens": 2048}`."""
    effort: str = ""
    tool_choice: str | dict[str, Any] = ""
    """`auto`, `none`, `any`, or the name of a tool; or as a provider writes it."""
    parallel_tools: bool | None = None
    cache: bool = True
    cache_ttl: str = ""
    """`1h` for the long-lived cache, where there is one."""
    cache_key: str = ""
    reasoning_summary: str = ""
    """`auto`, `concise` or `detailed`: what is told of reasoning that stays with the provider."""
    service_tier: str = ""
    """How it is served, such as `priority` or `flex`."""
    verbosity: str = ""
    """`low`, `medium` or `high`: how much is said in answer."""
    server_edits: dict[str, Any] = {}
    """Context management to ask of the provider, in its own words."""
    extra: dict[str, Any] = {}
    """Further fields of the request, in the provider's own words; they win."""


Format = Literal[
    "anthropic", "openai", "openai-responses", "openai-chat", "google", "gemini"
]  # fmt: skip
"""The wire formats that come with Holdfast, by all their names; a plug-in may have others."""


class RequestOptions(TypedDict, total=False):
    """What `request` takes by name; what else a provider knows may be named besides, as it is."""

    max_tokens: int
    stream: bool
    thinking: int | dict[str, Any] | None
    effort: str
    tool_choice: str | dict[str, Any]
    parallel_tools: bool | None
    cache: bool
    cache_ttl: Literal["", "5m", "1h"]
    cache_key: str
    reasoning_summary: str
    service_tier: str
    verbosity: str
    server_edits: dict[str, Any]
    extra: dict[str, Any]


class Violation(Struct, frozen=True, kw_only=True):
    """A rule of a provider that a request breaks."""

    rule: str
    """Its name, such as A1."""
    where: str
    """The place in the request, such as messages.3.content.0."""
    message: str
    """What the provider would say."""


class CallUsage(Struct, frozen=True, kw_only=True):
    """The last call's usage, for display."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0

    @classmethod
    def of(cls, usage: Usage) -> CallUsage:
        """A call's four buckets under their display names."""
        return cls(
            input_tokens=usage.input,
            output_tokens=usage.output,
            cache_creation_tokens=usage.cache_write,
            cache_read_tokens=usage.cache_read,
        )


class BudgetSnapshot(Struct, frozen=True, kw_only=True):
    """The state of the window for display."""

    context_window_size: int
    used_tokens: int
    """What would be sent now: what `explain_now` and `holdfast context` say."""
    used_percentage: float
    remaining_tokens: int
    sent_tokens: int = 0
    """What the newest call was sent, as reported; 0 where nobody said."""
    session_cost_usd: float = 0.0
    """Of the calls whose price is known."""
    unpriced_calls: int = 0
    """The others."""
    session_duration_ms: int = 0
    """Active time: silences of more than five minutes are none of it."""
    api_duration_ms: int = 0
    lines_added: int = 0
    lines_removed: int = 0
    total_input_tokens: int = 0
    total_output_tokens: int = 0
    last_call_usage: CallUsage | None = None
    tokens_per_minute: int = 0
    """What its provider was sent and has answered in the last minute, by this process."""
    limits: Limits | None = None
    """What its provider's newest answer says is left; `limits.headroom(now)` is the tightest."""
