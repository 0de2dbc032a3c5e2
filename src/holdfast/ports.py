"""Every seam on one page: what the engine asks of the world.

A port method is `async def`, so that one engine serves both doors. An adapter that says
`blocking = True` never suspends: the blocking door runs it in place, the async door in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from holdfast.model.event import Event
from holdfast.model.job import Job
from holdfast.model.limits import Limits
from holdfast.model.log import Draft, Entry, Head, PartRef, Session
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.reply import By, Call, Delta, Reply, Spent
from holdfast.model.search import Hit, Query
from holdfast.model.span import OPEN, Spans
from holdfast.model.store import Changes, Erased, Expect, Finding, Page
from holdfast.model.window import Count, Options, SectionName, Tier, Violation, Window


class Log(Protocol):
    """The entries of every session, append-only, ordered by `seq`."""

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        """Append all or nothing, durable on return; with a key already used, return what it made.

        `call` is recorded in the same transaction. Raises Conflict where `expect` does not hold.
        """
        ...

    async def read(self, session: str, spans: Spans, *, limit: int = 256) -> tuple[Entry, ...]:
        """The first entries inside the spans, in order: up to `limit`, fewer where they are large.

        None at all only when there are none.
        """
        ...

    async def heads(self, session: str, spans: Spans, *, limit: int = 4096) -> tuple[Head, ...]:
        """The last `limit` entries inside the spans, in order, without their content."""
        ...

    async def markers(self, session: str, *, before: int, limit: int = 64) -> tuple[Entry, ...]:
        """The newest `limit` markers with a seq below `before`, in order."""
        ...

    async def locate(self, session: str, entry: str) -> int | None:
        """The seq of an entry by its id; None where this session does not hold it."""
        ...


class Sessions(Protocol):
    """The sessions of a store."""

    async def create(self, session: Session) -> Session:
        """A new session; as a fork where it names a parent and the last entry it shares."""
        ...

    async def session(self, id: str) -> Session:
        """The session as it stands; Unknown, with the nearest id, where there is none."""
        ...

    async def set(self, id: str, changes: Changes) -> Session:
        """Change its title, model, policy, archive date…; None leaves a field as it is."""
        ...

    async def list(self, page: Page) -> tuple[Session, ...]:
        """Sessions by last change, newest first, from where the page begins."""
        ...

    async def erase(self, id: str) -> Erased:
        """Really erase it; forks that share its beginning get their own copy first."""
        ...


class Blobs(Protocol):
    """Large content by its SHA-256, compressed, stored once."""

    async def put(self, data: bytes) -> str: ...

    async def fetch(self, hash: str) -> bytes: ...

    async def sweep(self) -> int:
        """Remove blobs that nothing refers to; how many went."""
        ...


class Calls(Protocol):
    """Every model call, background ones too."""

    async def record(self, call: Call) -> Call:
        """Insert or complete the row of one call; one row per provider request id."""
        ...

    async def calls(self, session: str, *, after: str = "", limit: int = 256) -> tuple[Call, ...]:
        """The calls of a session in the order they were begun."""
        ...

    async def newest(self, session: str, limit: int = 8) -> tuple[Call, ...]:
        """The calls begun last, newest first."""
        ...

    async def spent(
        self, session: str = "", *, since: int = 0, until: int = OPEN, by: Sequence[By] = ()
    ) -> tuple[Spent, ...]:
        """What calls took that were begun from `since` on and before `until`, summed.

        Of one session, or else of all; told apart as `by` says, otherwise in one sum.
        """
        ...

    async def keep(self, session: str, given: bytes) -> str:
        """Keep what a call was given (system prompt, tools), once; its SHA-256."""
        ...

    async def kept(self, session: str, hash: str) -> bytes:
        """What was kept under a hash."""
        ...


class Counts(Protocol):
    """How many tokens each part takes, by counter; estimates are columns of the log itself."""

    async def known(self, session: str, spans: Spans, counter: str) -> dict[PartRef, int]:
        """The counts of a counter that are known inside the spans."""
        ...

    async def tally(self, session: str, counter: str, counts: dict[PartRef, int]) -> None:
        """Remember counts; those of parts this session does not hold are left out."""
        ...


class Search(Protocol):
    """Full text over what was said; it lags behind appends and catches up when asked."""

    async def catch_up(self, limit: int = 1000) -> int:
        """Index up to `limit` parts that are not indexed yet; how many were."""
        ...

    async def find(self, query: Query) -> tuple[Hit, ...]:
        """What matches, best first."""
        ...


class Jobs(Protocol):
    """Background work: leased rows."""

    async def offer(self, job: Job) -> Job:
        """Put it in line, unless one with its key waits or runs already; then that one."""
        ...

    async def lease(self, kind: str, *, owner: str, now: int, until: int) -> Job | None:
        """Take the oldest job of a kind that is free, or whose lease has run out."""
        ...

    async def renew(self, job: Job, *, now: int, until: int) -> bool:
        """Keep it longer; False where somebody else has it by now."""
        ...

    async def finish(self, job: Job, *, outcome: str, now: int) -> bool:
        """Say how it ended; False where somebody else has it by now."""
        ...

    async def jobs(self, session: str) -> tuple[Job, ...]: ...


class Care(Protocol):
    """What keeps a store healthy."""

    async def ids(self) -> tuple[str, ...]:
        """The sessions that can be examined, also where the row of one cannot be read."""
        ...

    async def examine(self, session: str = "") -> tuple[Finding, ...]:
        """Everything that is not as it should be, of the store or of one session; () when well."""
        ...

    async def backup(self) -> str:
        """A private copy of the store beside it; its path."""
        ...

    async def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Mend what can be mended without losing anything; what was mended."""
        ...


class Store(Protocol):
    """Everything that is kept, behind its small ports."""

    blocking: ClassVar[bool]

    @property
    def log(self) -> Log: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def blobs(self) -> Blobs: ...
    @property
    def calls(self) -> Calls: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def search(self) -> Search: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def care(self) -> Care: ...

    def close(self) -> None: ...


class Source(Protocol):
    """Something that has text for a section of the window."""

    name: str
    """What it is called when something is wrong with it."""
    section: SectionName
    """instructions, memory, repo_map, read_only_files, context, chat_files or reminder; its text
    stands behind what the caller gave for the same section."""

    async def text(self, allowance: int) -> str:
        """Its text, of at most this many tokens by estimate; empty when it has nothing to say.

        It is asked once for each window. What goes beyond the allowance is cut at the end of a
        line, and a note says how much was left out.
        """
        ...


class Catalogue(Protocol):
    """What is known of models, and which policies there are."""

    def profile(self, model: str) -> Profile:
        """A model's profile; safe, stated assumptions for one that nobody knows."""
        ...

    def policy(self, name: str) -> Policy:
        """A policy by its name, or by the path of its file."""
        ...

    def prompt(self, name: str) -> str:
        """The prompt that a policy names, or the path of its file."""
        ...

    def models(self) -> tuple[str, ...]:
        """Names of models that are known, the common ones first."""
        ...

    def learn(self, model: str, **told: Any) -> Profile:
        """Keep what an endpoint or its error has said of a model, such as `window=8192`."""
        ...


class Counter(Protocol):
    """One way to know how many tokens something takes."""

    blocking: ClassVar[bool]

    @property
    def name(self) -> str:
        """What its counts are kept under: a vocabulary, or a provider."""
        ...

    @property
    def tier(self) -> Tier: ...

    async def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text takes by itself."""
        ...

    async def count_request(self, request: dict[str, Any], format: str) -> Count | None:
        """How many a whole request takes; None where this counter cannot tell."""
        ...

    def close(self) -> None: ...


class Flow(Protocol):
    """An answer as it comes."""

    async def read(self) -> bytes:
        """The next piece; empty at its end."""
        ...

    async def close(self) -> None:
        """Let it go, finished or not: the other side is told that nobody listens any more."""
        ...


class Provider(Protocol):
    """One provider's models, in one wire format, over a transport that has its key."""

    blocking: ClassVar[bool]

    @property
    def name(self) -> str: ...
    @property
    def limits(self) -> Limits | None: ...  # as its newest answer says; None where none does
    @property
    def format(self) -> str:
        """The wire format its requests are written in."""
        ...

    async def begin(self, request: dict[str, Any]) -> Flow:
        """Send a request that streams; whatever fails is a ProviderError that says what to do."""
        ...

    def close(self) -> None: ...


class Transport(Protocol):
    """Sends requests to one provider, with its key, and to nobody else."""

    blocking: ClassVar[bool]

    @property
    def provider(self) -> str: ...
    @property
    def limits(self) -> Limits | None: ...

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """The body of the answer; whatever fails is a ProviderError that says what to do."""
        ...

    async def stream(self, path: str, body: bytes, headers: Mapping[str, str]) -> Flow:
        """The same, piece by piece; an answer that is none fails here, before the first piece."""
        ...

    def close(self) -> None: ...


class Decoder(Protocol):
    """Reads one streamed reply, however its bytes are split."""

    def feed(self, data: bytes) -> list[Delta]:
        """The pieces that these bytes complete."""
        ...

    def close(self) -> Reply:
        """The whole reply; `stop` is `aborted` where the stream ended too early."""
        ...


class Codec(Protocol):
    """One wire format: window to request, bytes to reply. It never acts."""

    name: str
    """The format, such as openai-responses."""
    provider: str
    """Whose seals it echoes."""

    def encode(self, window: Window, profile: Profile, options: Options) -> dict[str, Any]:
        """The request, as the provider's own SDK takes it."""
        ...

    def decode(self, body: bytes) -> Reply:
        """The reply that a whole response body is."""
        ...

    def decoder(self) -> Decoder:
        """What reads a streamed reply."""
        ...

    def violations(self, request: dict[str, Any], profile: Profile) -> list[Violation]:
        """Every documented rule that a request breaks."""
        ...


class Telemetry(Protocol):
    """Whoever measures: told of what happens, never of what was said."""

    def tell(self, event: Event) -> None: ...


class Clock(Protocol):
    """The time, as a label."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        ...


class Ids(Protocol):
    """New names."""

    def new(self) -> str:
        """A ULID, greater than every one before it from this source."""
        ...
