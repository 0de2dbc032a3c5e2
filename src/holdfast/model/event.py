"""What can be told of a run to whoever measures it: names, numbers and times, never words.

Rule 1: no event holds what anybody said, what a tool was given or what it answered, or a key.
Rule 2: times are milliseconds since 1970, durations their differences.
"""

from __future__ import annotations

from msgspec import Struct

from holdfast.model.rate_limits import Limits
from holdfast.model.reply import Call


class SessionBegan(Struct, frozen=True, kw_only=True):
    """A session is worked on for the first time since it was opened."""

    session: str
    resumed: bool
    """Whether it was there before."""


class TurnBegan(Struct, frozen=True, kw_only=True):
    """The agent sets to work."""

    session: str
    at: int
    within: str = ""
    """The session it is a part of, where it is a subtask's."""


class TurnEnded(Struct, frozen=True, kw_only=True):
    """The agent is done, or was stopped."""

    session: str
    started: int
    ended: int
    error: str = ""
    """What stopped it, as the name of a kind of error."""
    within: str = ""
    """The session it is a part of, where it is a subtask's."""


class Called(Struct, frozen=True, kw_only=True):
    """A model was called, and the call is recorded."""

    call: Call


class CallFailed(Struct, frozen=True, kw_only=True):
    """A model was called in vain: no reply came."""

    session: str
    provider: str
    model: str
    started: int
    ended: int
    error: str
    """The kind of error; what it says may hold words of the conversation."""
    status: int | None = None


class FirstHeard(Struct, frozen=True, kw_only=True):
    """The first piece of a reply has come."""

    session: str
    provider: str
    model: str
    started: int
    at: int


class ToolRan(Struct, frozen=True, kw_only=True):
    """A tool was used."""

    session: str
    tool: str
    call: str
    started: int
    ended: int
    ok: bool
    given: int = 0
    """The size of its input, in bytes."""
    answered: int = 0
    """The size of its answer, in bytes."""
    added: int = 0
    removed: int = 0
    commits: int = 0
    pull_requests: int = 0


class ToolDecided(Struct, frozen=True, kw_only=True):
    """Whether a tool may be used was decided."""

    session: str
    tool: str
    call: str
    accepted: bool
    source: str
    """`config` where a rule decided, `user_temporary` or `user_reject` where the user did."""
    language: str = ""
    """Of the file to be changed; empty where none is."""


class Compacted(Struct, frozen=True, kw_only=True):
    """A marker took something out of the window."""

    session: str
    step: str
    trigger: str
    policy: str
    before: int
    after: int
    started: int
    ended: int


class Limited(Struct, frozen=True, kw_only=True):
    """A provider said how much it still takes."""

    limits: Limits
    per_minute: int
    """Tokens of the last minute."""


Event = (
    SessionBegan | TurnBegan | TurnEnded | Called | CallFailed | FirstHeard | ToolRan | ToolDecided
    | Compacted | Limited
)  # fmt: skip
