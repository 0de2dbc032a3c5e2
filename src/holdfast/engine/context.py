"""Session context: what the parts of the engine know of the session and engine they work for.

`AsyncSession` and `Engine` are what callers hold, with every verb there is. Inside the engine a
part asks for one of these protocols instead: it says what the part may touch, and no module that
does one thing has to know the class that does everything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from os import PathLike
from typing import Any, Protocol

from holdfast.engine.compaction.hooks import Ahead, CompactionHooks, Work
from holdfast.engine.compaction.stored_policies import KeptPolicies
from holdfast.engine.inspect.ledger import Ledgers
from holdfast.engine.usage.held_costs import HeldCosts
from holdfast.engine.usage.telemetry import Watch
from holdfast.engine.window.message_cache import MessageCache
from holdfast.engine.workspace.directories import Directories
from holdfast.model.ledger import Effort
from holdfast.model.log import Body, Draft, Entry, SessionInfo
from holdfast.model.policy import Policy
from holdfast.model.spending import Caps
from holdfast.model.view import View
from holdfast.ports import Catalogue, Clock, Counter, Ids, Store


class Lock(Protocol):
    """What one task, or thread, holds at a time; the door chooses its colour."""

    def acquire(self) -> Awaitable[object] | None:
        """Wait for it; what is left to await, if anything."""
        ...

    def release(self) -> None: ...


class ImportContext(Protocol):
    """The engine as an import sees it: a store to write to, and what is redacted on the way."""

    store: Store
    ids: Ids
    secrets: tuple[str, ...]
    appended: bool

    @property
    def catalogue(self) -> Catalogue: ...

    @property
    def aside(self) -> Callable[[Callable[[], Any]], Awaitable[Any]]:
        """Does what blocks, such as reading files, in the door's colour."""
        ...


class EngineContext(ImportContext, Protocol):
    """The engine as its parts see it: what everything that was opened behind one door shares."""

    clock: Clock
    lock: Callable[[], Lock]
    endpoint: Counter | None
    spawn: Callable[[Work], None] | None
    pause: Callable[[float], Awaitable[None]] | None
    caps: Caps
    held: HeldCosts
    watch: Watch
    kept_policies: KeptPolicies
    trust: str
    directories: Directories

    def counter(self, vocabulary: str) -> Counter: ...

    def memory(self, project: str | PathLike[str] = "", *, key: str = "") -> object: ...

    async def resolve(self, id: str, *, prefix: bool = False) -> SessionInfo: ...

    def every_session(self) -> AsyncIterator[SessionInfo]: ...


class SessionContext(Protocol):
    """One open session as its parts see it: its row, its store, models, a clock, ids, money."""

    upkeep: CompactionHooks
    ahead: Ahead
    held: HeldCosts
    watch: Watch
    message_cache: MessageCache
    spawn: Callable[[Work], None] | None
    pause: Callable[[float], Awaitable[None]] | None
    spent: int
    resumed: bool
    before_fork: tuple[tuple[str, int], Effort]
    directories: Directories
    new_lock: Callable[[], Lock]
    aside: Callable[[Callable[[], Any]], Awaitable[Any]]

    @property
    def id(self) -> str: ...

    @property
    def info(self) -> SessionInfo: ...

    @property
    def store(self) -> Store: ...

    @property
    def secrets(self) -> tuple[str, ...]: ...

    @property
    def trust(self) -> str: ...

    @property
    def catalogue(self) -> Catalogue: ...

    @property
    def caps(self) -> Caps: ...

    @property
    def endpoint(self) -> Counter | None: ...

    @property
    def ledgers(self) -> Ledgers: ...

    def counter(self, vocabulary: str) -> Counter: ...

    def now(self) -> int: ...

    def new_id(self) -> str: ...

    # Not among the verbs that callers have, and so attributes of the session, not methods.

    @property
    def whole(self) -> Callable[[], str]: ...

    @property
    def pay(self) -> Callable[[int], None]: ...

    @property
    def again(self) -> Callable[[], SessionContext]: ...

    async def policy(self, name: str = "") -> Policy: ...

    async def refresh(self) -> SessionInfo: ...

    async def view(self, at: str | int = "") -> View: ...

    async def append(self, body: Body, *, key: str = "", epoch: int | None = None) -> Entry: ...

    async def append_all(self, bodies: Sequence[Body], *, key: str = "") -> tuple[Entry, ...]: ...


class TurnContext(SessionContext, Protocol):
    """The same session around a call of a model: what was sent, and the reply that comes."""

    cause: str

    @property
    def viewed(self) -> Callable[[], Awaitable[View]]: ...

    @property
    def kept_policy(self) -> KeepPolicy: ...

    @property
    def draft(self) -> Callable[..., Draft]: ...

    @property
    def put(self) -> Callable[..., Awaitable[Entry]]: ...


class KeepPolicy(Protocol):
    """Know a policy by a name; with `write` its content is kept where it is the user's own."""

    async def __call__(self, named: str | Policy, *, write: bool = True) -> str: ...
