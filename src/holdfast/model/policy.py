"""How context is managed, as data: thresholds, order, steps of the ladder, words."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from holdfast.model.message import Role
from holdfast.model.window import BudgetConfig, SectionName

Step = Literal["thinking", "microcompact", "prune", "notes", "summarise", "compact", "shed"]
"""The steps that a plan may be of, from the cheapest to the dearest."""


Refresh = Literal["off", "manual", "files", "auto"]
"""There is no map; or it stays until it is asked for anew, or until the files of the chat change,
or until something else is said."""


class Place(Struct, frozen=True, array_like=True):
    """Where a section stands in the window, and how it is said."""

    section: SectionName
    role: Role = "user"
    tag: str = ""
    """The scaffold tag around it; empty for none."""
    form: str = ""
    """What is said around that: `{text}` is the text in its tag, `{cwd}` a value of the context."""
    bundle: str = ""
    """Sections of one bundle that follow one another are parts of one message."""
    answer: str = ""
    """What the model is taken to have answered to it; empty for nothing."""


class Bundle(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """Sections that are one text together, in one tag."""

    name: str
    tag: str = ""
    before: str = ""
    after: str = ""


class Truncate(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """How much of one tool's output is shown; of several bounds the tightest holds."""

    tokens: int = 0
    share: float = 0.0
    """A share of the model's window, in tokens."""
    least: int = 0
    """A share never means fewer tokens than this."""
    together: float = 0.0
    """All outputs that one reply called for have this share of the window together, at most."""
    characters: int = 0
    size: int = 0
    """In bytes."""
    lines: int = 0
    slack: float = 1.0
    """Only what is this many times too long is cut at all."""
    keep: Literal["middle", "head", "tail"] = "middle"
    """What leaves: the middle, or all but the head or the tail."""


class Thinking(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """Reasoning of finished turns is left out."""

    keep: int = 1
    """The newest turns that keep theirs."""
    keep_all: bool = False
    """All of it stays, with the provider as well, which would clear it otherwise."""
    least: int = 0
    """Nothing is left out unless this much is."""
    idle: int = 0
    """Only when the last reply is older than so many minutes; 0: whenever it pays."""


class Microcompact(
    Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True
):
    """Results of listed tools are cleared, but for the newest."""

    tools: tuple[str, ...]
    """Kinds of tools as core/compaction/clear.py names them: read, shell, grep…"""
    keep: int = 5
    idle: int = 60
    """When the last reply is older than so many minutes."""
    edits: bool = False
    """Otherwise by the provider's cache editing, where it has it."""
    trigger: int = 100_000
    """Cache editing begins above so many tokens"""
    least: int = 0
    """and frees at least so many at once."""
    exclude: tuple[str, ...] = ()
    """Names of tools whose results are never cleared."""
    inputs: bool = False
    """Whether the provider clears what the calls were given as well."""


class Prune(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """Tool results beyond a protected amount are cleared, where enough is freed."""

    protect: int = 40_000
    least: int = 20_000
    """Nothing is cleared unless this much is."""
    turns: int = 2
    """The newest turns are never touched."""
    never: tuple[str, ...] = ("skill",)
    failed: bool = True
    """Whether what a failed call said is cleared as well."""
    repeats: bool = False
    """Results that a later one repeats or supersedes go first, protected or not."""
    by_price: bool = False
    """Only where it pays, or the window is full."""


class Notes(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """Running notes take the place of what they cover."""

    begin: int = 10_000
    """First written at so many tokens of context."""
    every: int = 5_000
    """Then after so many more, and"""
    calls: int = 3
    """so many tool calls, or a natural pause."""
    most: int = 12_000
    section: int = 2_000
    prompt: str = "notes"
    effort: str = "low"
    timeout: float = 120.0


class Due(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """When the window is full enough to summarise; of several marks the first one reached."""

    window: float = 0.0
    """A share of the model's window."""
    room: float = 0.0
    """A share of what a prompt may take."""
    history: float = 0.0
    """A share of the slice for history, by history alone."""
    tokens: int = 0
    by_price: bool = False
    """Also before any of these, as soon as it pays"""
    least: float = 0.5
    """and at least this share of the room is taken,"""
    saves: float = 0.0
    """and at least this share of the prompt leaves: what was said is worth something too."""


class Tail(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """What stays word for word behind a summary."""

    share: float = 0.0
    of: Literal["room", "history", "visible", "window"] = "room"
    least: int = 0
    most: int = 0
    """0: no bound."""
    after: Literal["any", "assistant", "user"] = "any"
    """Whose the last message before the tail has to be"""
    begins: Literal["any", "user"] = "any"
    """and whose the first one in it."""
    lean: Literal["shorter", "longer"] = "shorter"
    """What a tail becomes that cannot begin where its share ends."""
    turn: bool = True
    """Whether the turn that is going on stays whole, where it fits."""


class Summarise(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of the conversation is told in a summary."""

    due: Due = Due()
    tail: Tail = Tail()
    users: int = 0
    """Messages of the user's that stay word for word, newest first, in tokens."""
    users_share: float = 0.0
    """The same as a share of the room."""
    opened: bool = False
    """Whether open requests stay word for word as well."""
    shorten: bool = False
    """Whether the oldest of these is cut to fit, rather than left out."""
    prompt: str = "holdfast"
    form: Literal["transcript", "headings", "conversation"] = "transcript"
    """What the summariser reads: one text, numbered or with `# USER` and `# ASSISTANT` as headings,
    or the conversation itself with a question behind it."""
    shares_cache: bool = False
    """Whether the question is the turn's own request with one message more: the same system prompt,
    tools, tool choice, thinking and cache marks, so that what is cached is read. With any other
    form than the conversation, only while it is cached."""
    models: tuple[Literal["weak", "main"], ...] = ("weak", "main")
    most: int = 4_000
    """The longest summary, in tokens."""
    share: float = 0.0
    """The same as a share of the room, where that is less,"""
    of: Literal["room", "history"] = "room"
    """or of the slice for history."""
    names: float = 0.0
    """The share of it in which the names of what is covered are listed, by code and not by a model;
    what the prose leaves is theirs as well."""
    pause: bool = False
    """Where the provider summarises: it stops behind the summary, and what is kept of the newest
    messages is sent again before it goes on."""
    keeps: int = 0
    """So many of the newest messages stay word for word behind such a pause."""
    instructions: str = ""
    """What a provider is told instead of its own prompt for a summary; empty for its own."""
    reads: int = 0
    """How much of each tool result a model reads for it, in tokens; 0: all that was shown."""
    tries: int = 2
    """How often each model is asked: again with what was missing."""
    effort: str = "low"
    timeout: float = 120.0
    """How many seconds one question may take."""
    verify: str = ""
    """The prompt of a second call that checks and completes the first; empty for none."""
    ledger: bool = True
    """Whether the ledger is laid beside it, and it is held against the ledger."""
    failing: Literal["extract", "keep", "drop"] = "extract"
    """When no model has one: do without a model, keep all, or drop the oldest and ask again."""


class Awareness(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """The model is told how full its window is, behind tools' answers, unless it knows natively."""

    since: float = 0.0
    """From this share of the room on,"""
    every: float = 0.0
    """and again once this share of it more is taken; 0: behind every answer."""


class KeepWarm(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """What a provider has cached is read once more before it runs out, while somebody may type."""

    before: int = 30
    """So many seconds before it runs out."""
    most: int = 3
    """So often in a row, at most."""
    chance: float = 0.5
    """How likely it is that somebody comes back in time: it must pay at that."""


class Policy(Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """One way of managing context, under its name."""

    name: str
    about: str = ""
    layout: tuple[Place, ...]
    layout_compacted: tuple[Place, ...] = ()
    """The order once a summary stands; empty: the same."""
    bundles: tuple[Bundle, ...] = ()
    """The bundles that are one text; any other is a message of several parts."""
    environment: tuple[str, ...] = ()
    """The values of the context that are shown, in this order, each with those under it
    (`network` brings `network.allowed`); empty for all."""
    image_tags: bool = False
    """Whether the pictures of a message stand in `<image>`, those from this machine by number."""
    budget: BudgetConfig = BudgetConfig()
    counts_with: Literal["exact", "bytes/4", "chars/4", "estimate", "provider"] = "estimate"
    summary_preamble: str = ""
    """What is said before a summary, so that nobody takes it for a request."""
    recalls: bool = True
    """Whether a summary without a ledger says in one line how to bring back what it covers."""
    summary_preserved: str = ""
    """What is said behind a summary when messages from before it stay word for word."""
    summary_closing: str = ""
    """What is said last behind a summary: how to go on from it."""
    compact_instructions: str = ""
    """What every summary is to dwell on, besides what its prompt asks for."""
    reminder_if_it_fits: bool = False
    """The reminder is left out where it would not fit, rather than counted in."""
    reminder_by_model: bool = False
    """Who says the reminder is the model's matter: the system, or the user in the last message."""
    cache_marks: tuple[SectionName, ...] = ()
    """The sections that a cache may end behind; none: behind all that stays as it is."""
    acknowledge: str = ""
    """What the model is taken to answer when a file comes into the chat; empty: it is not said."""
    memory: Literal["notes", "two-stage"] = "notes"
    """How what outlives a session is kept: notes after each turn, or finished sessions in two
    stages, their summary put before the next one."""
    asks_before_overlong: bool = False
    """The user is asked before more is sent than fits, rather than anything being cut."""
    keeps_unread: bool = True
    """Whether what has arrived since the last reply stays, each result whole up to its cap. Without
    it steps take what they take in the program that the policy is like."""
    strategy: Literal["server", "client", "off"] = "client"
    """Who compacts: the provider where it can, we ourselves, or nobody."""
    proactive: bool = True
    """Whether it acts before the window is full."""
    emergency: bool = True
    """Whether it acts when the window is full; otherwise it is told as `over`."""
    background: bool = False
    """Whether summaries are prepared ahead."""
    ahead: float = 0.8
    """Prepared ahead from this share of the mark at which one is due."""
    repo_map: Refresh = "off"
    """When the agent's map of the repository is made anew."""
    breaker: int = 3
    """After so many failed maintenance calls in a row no more are made for now."""
    spend: float = 0.25
    """The share of a session's cost that maintenance may take, above a small free amount."""
    turns_left: int = 20
    """How many more calls are counted on at most when it is weighed whether a compaction pays."""
    warns: bool = False
    """Whether the model is warned before results are cleared, so that it can save what it needs."""
    awareness: Awareness | None = None
    keep_warm: KeepWarm | None = None
    truncate: Truncate | None = None
    thinking: Thinking | None = None
    microcompact: Microcompact | None = None
    prune: Prune | None = None
    notes: Notes | None = None
    summarise: Summarise | None = None
    compact: Summarise | None = None

    @property
    def makes_room(self) -> bool:
        """Whether something leaves by itself when the window is full and no summary helps."""
        return self.emergency and not self.asks_before_overlong

    def order(self, compacted: bool) -> tuple[Place, ...]:
        """The layout in force."""
        return self.layout_compacted if compacted and self.layout_compacted else self.layout
