"""Two doors to one engine: blocking and async.

The engine is `async def` and awaits only its ports. Behind the blocking door the ports block, so a
coroutine never suspends and one step runs it to its end. Behind the async door each blocking
adapter has one worker thread; a call once begun finishes there, whatever happens to its caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack, cast

from holdfast.engine.arguments import check_argument, checked, checks_arguments
from holdfast.engine.background_threads import GRACE, Tasks, Threads
from holdfast.engine.blocking import Session
from holdfast.engine.bridge import (
    Threaded,
    ThreadedCounter,
    ThreadLock,
    catch_up,
    drive,
    drive_all,
    spoken,
    spoken_in_loop,
)
from holdfast.engine.compaction.hooks import Hook, Voice
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.importing.discovery import Source
from holdfast.engine.knowledge.project import ProjectMemory
from holdfast.engine.plugins import measured, open_store
from holdfast.engine.settings import settings
from holdfast.engine.usage.costs import By, Costs
from holdfast.engine.writer import OnConflict
from holdfast.errors import InvalidRequest
from holdfast.model.import_report import ImportReport
from holdfast.model.log import SessionInfo
from holdfast.model.policy import Policy
from holdfast.model.search import Hit, Where
from holdfast.model.span import OPEN
from holdfast.model.spending import Caps
from holdfast.model.store import Erased, Erasing, Finding, OfBackups
from holdfast.model.workspace import KeptFiles
from holdfast.ports import Catalogue, Counter, Store, Telemetry

if TYPE_CHECKING:
    from holdfast.core.stats import Stats
    from holdfast.engine.exporting.export import Exported
    from holdfast.engine.exporting.handoff import Handed
    from holdfast.engine.importing.source import Reading
    from holdfast.engine.knowledge.instructions import Instructions
    from holdfast.engine.usage.stats import By as Apart


@checks_arguments
class Holdfast:
    """The engine behind the blocking door."""

    def __init__(self, engine: Engine, beside: Threads | None = None) -> None:
        self.engine = engine
        self._beside = beside or Threads()

    @property
    def catalogue(self) -> Catalogue:
        """What is known of models and policies."""
        return self.engine.catalogue

    def counter(self, vocabulary: str) -> Counter:
        """What counts exactly with a vocabulary."""
        return self.engine.counter(vocabulary)

    def session(
        self,
        id: str = "",
        *,
        create: bool = False,
        model: str = "",
        directory: str | PathLike[str] = "",
        title: str = "",
        policy: str | Policy = "holdfast",
        on_conflict: OnConflict = "append",
        summariser: Voice | None = None,
        weak_model: str = "",
        hooks: Sequence[Hook] = (),
        cap: float | None = None,
    ) -> Session:
        """A new session, or with `id` (or an unambiguous beginning of one) the one to resume.

        With `create` the id is the caller's own, taken as it is: its session is opened where it is
        there, and made where it is not. Model, directory, title and policy are for making it.
        Where another writer went on first, a message is appended behind theirs; `on_conflict` may
        be "fork" or "raise" instead.
        `summariser` answers questions on the side, first as `weak_model` where one is named;
        without one, summaries are made without a model. `hooks` see each compaction beforehand.
        `cap` is what it may cost in US dollars: the next call is refused as Capped before it is.
        """
        opened = self.engine.session(
            id, create=create, model=model, directory=directory, title=title, policy=policy,
            on_conflict=on_conflict, summariser=summariser, weak_model=weak_model, hooks=hooks,
            cap=cap,
        )  # fmt: skip
        return Session(drive(opened))

    def sessions(
        self,
        *,
        project: str | None = None,
        archived: bool = False,
        limit: int = 50,
        after: SessionInfo | None = None,
    ) -> tuple[SessionInfo, ...]:
        """Sessions by last change, newest first; `after` is the last one of the page before."""
        listed = self.engine.sessions(project=project, archived=archived, limit=limit, after=after)
        return drive(listed)

    def resolve(self, id: str, *, prefix: bool = False) -> SessionInfo:
        """The session of exactly this id; with `prefix` also of the only one that begins so."""
        return drive(self.engine.resolve(id, prefix=prefix))

    def every_session(self) -> Iterator[SessionInfo]:
        """All sessions, archived ones last."""
        return drive_all(self.engine.every_session())

    def opening(self, session: SessionInfo) -> str:
        """The first words the user said in it; empty where they are not near its beginning."""
        return drive(self.engine.opening(session))

    def forks(self, session: SessionInfo) -> tuple[SessionInfo, ...]:
        """The sessions that begin with a part of this one."""
        return drive(self.engine.forks(session))

    def discard(self, id: str) -> bool:
        """Let a session go in which nothing was said; False where it holds anything."""
        return drive(self.engine.discard(id))

    def erase(self, id: str, *, backups: OfBackups = "rewrite", background: bool = True) -> Erased:
        """Erase a session for good; forks of it keep what they share with it.

        Backups that hold it are rewritten without it by a job in the background, which the answer
        names and `finish_erasing` does at once; with `backups="delete"` they are removed.
        """
        return drive(self.engine.erase(id, backups=backups, background=background))

    def finish_erasing(self) -> tuple[Erasing, ...]:
        """Erase what erased sessions have left in backups and in a large search index."""
        return drive(self.engine.finish_erasing())

    def search(
        self, words: str, *, meaning: bool = False, **where: Unpack[Where]
    ) -> tuple[Hit, ...]:
        """Find what was said, everywhere or where a `Query` says; nothing is out of reach.

        What has every word comes first; where that is little, what has some of the words follows,
        ranked, unless `any=False`. With `meaning`, also what says the same in other words, where
        the extra is installed.
        """
        return drive(self.engine.search(words, meaning=meaning, **where))

    def respelled(self, words: str) -> str:
        """The same words, each that was never said as the nearest that was; empty where none is."""
        return drive(self.engine.respelled(words))

    def costs(
        self,
        by: By,
        *,
        project: str | None = None,
        agent: str = "",
        session: str = "",
        since: int = 0,
        until: int = OPEN,
    ) -> list[Costs]:
        """What calls cost by period, model, session, project, agent or cause: all of them."""
        return drive(
            self.engine.costs(
                by, project=project, agent=agent, session=session, since=since, until=until
            )
        )

    def stats(self, by: Apart = "agent", *, since: int = 0) -> list[Stats]:
        """What sessions show by agent, project or model: usage, compactions, what filled them."""
        return drive(self.engine.stats(by, since=since))

    def index(self, limit: int = 1000, *, meaning: bool = False) -> int:
        """Index a little of what cannot be searched yet; how many parts, 0 when all can be."""
        return drive(self.engine.index(limit, meaning=meaning))

    def transcripts(
        self, *paths: str | PathLike[str], agents: Sequence[str] = (), others: bool = False
    ) -> list[Source]:
        """Transcripts of other programs: at these paths, or in the usual places if none.

        With `others` also the files there that are none: `why` says so, and nobody imports them.
        """
        return drive(self.engine.transcripts(*paths, agents=agents, others=others))

    def import_sources(
        self,
        sources: Sequence[Source],
        *,
        fresh: bool = False,
        again: bool = False,
        reading: Reading | None = None,
    ) -> Iterator[ImportReport]:
        """Import transcripts; with `fresh` a reply that may still grow is left for the next time.

        What was imported before is not imported again; what has been added to it is. With `again`
        it is read again to tell its problems. `reading` is told how far a large one is.
        """
        return drive_all(
            self.engine.import_sources(sources, fresh=fresh, again=again, reading=reading)
        )

    def import_from(
        self, *paths: str | PathLike[str], agents: Sequence[str] = ()
    ) -> Iterator[ImportReport]:
        """Find transcripts and import them, one after the other; what each has brought."""
        return drive_all(self.engine.import_from(*paths, agents=agents))

    def export(
        self,
        id: str,
        to: str = "portable",
        *,
        file: str | PathLike[str] = "",
        model: str = "",
        raw: bool = False,
        boundaries: bool = False,
    ) -> Exported:
        """A session in another form: portable, markdown, html, claude-code, codex, anthropic, …

        With `file` it is written there too, all of it or nothing, for its owner alone. `model` is
        whom a window is for. Secrets are masked unless it is `raw`. With `boundaries` a portable
        session is followed by its compactions on lines of their own.
        """
        made = self.engine.export(
            id, to, file=file, model=model, raw=raw, boundaries=boundaries
        )  # fmt: skip
        return drive(made)

    def handoff(
        self,
        id: str,
        to: str,
        *,
        home: str | PathLike[str] = "",
        directory: str | PathLike[str] = "",
        model: str = "",
        raw: bool = False,
    ) -> Handed:
        """What `claude-code`, `codex`, `chat` or whoever reads `markdown` needs to go on with it.

        With `home`, the directory that the program keeps its things in, the session is laid where
        it looks for it. `directory` is where it goes on; without it, where the session worked.
        """
        handed = self.engine.handoff(
            id, to, home=home, directory=directory, model=model, raw=raw
        )  # fmt: skip
        return drive(handed)

    def memory(self, project: str | PathLike[str] = "", *, key: str = "") -> ProjectMemory:
        """The notes of a project, in files; or with `key`, of a program without files, kept here.

        Without either, those of the project that the working directory is in.
        """
        return ProjectMemory(self.engine.memory(project, key=key))

    def instructions(self, directory: str | PathLike[str] = "", *, trust: str = "") -> Instructions:
        """The instruction files of a directory, as a source for `window(sources=…)`.

        `trust` says which files of the project act: those the user approved ("ask"), all
        ("always"), or none ("never"); without it, as the settings say.
        """
        return drive(self.engine.instructions(directory, trust=trust))

    def checkpoints(self, session: str = "") -> KeptFiles:
        """How much is kept of what files held, of one session or of all."""
        return drive(self.engine.checkpoints(session))

    def prune_checkpoints(self, days: int | None = None) -> KeptFiles:
        """Let go of what files held longer ago than the settings say, or than `days`; what went."""
        return drive(self.engine.prune_checkpoints(days))

    def examinable(self) -> tuple[str, ...]:
        """The ids of the sessions that can be examined, however damaged they are."""
        return drive(self.engine.examinable())

    def examine(self, session: str = "") -> tuple[Finding, ...]:
        """What is not as it should be, of the store or of one session; () when all is well."""
        return drive(self.engine.examine(session))

    def backup(self) -> str:
        """A private copy of the store beside it; its path."""
        return drive(self.engine.backup())

    def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Mend what can be mended without losing anything; what was mended."""
        return drive(self.engine.repair(findings))

    def wait_for_background(self, seconds: float = GRACE) -> bool:
        """Wait until nothing is under way beside the turns, but no longer; whether all is done."""
        return self._beside.settle(seconds)

    def close(self) -> None:
        """Let go of the store; work under way may finish first, for a moment, and search too."""
        self._beside.settle()
        if self.engine.appended:
            catch_up(self.engine.store)
        self.engine.close()

    def __enter__(self) -> Holdfast:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@checks_arguments
class AsyncHoldfast(Engine):
    """The engine behind the async door: the same names, awaited."""

    def __init__(self, store: Store, *, endpoint: Counter | None = None, **named: Any) -> None:
        self._counting = ThreadPoolExecutor(1, "holdfast-counter")
        self._tasks = Tasks()
        super().__init__(
            store, endpoint=self._threaded(endpoint), voice=spoken_in_loop,
            spawn=self._tasks.spawn, pause=self._tasks.pause, aside=asyncio.to_thread, **named,
        )  # fmt: skip

    def counter(self, vocabulary: str) -> Counter:
        found = self._threaded(super().counter(vocabulary))
        assert found
        return found

    def _threaded(self, counter: Counter | None) -> Counter | None:
        if counter is None or not counter.blocking:
            return counter
        return cast(Counter, ThreadedCounter(counter, self._counting))

    async def wait_for_background(self, seconds: float = GRACE) -> bool:
        """Wait until nothing is under way beside the turns, but no longer; whether all is done."""
        return await self._tasks.settle(seconds)

    def close(self) -> None:
        """Let go of the store; after appends its search catches up first, for a moment."""
        self._counting.shutdown()
        if self.appended and isinstance(self.store, Threaded):
            self.store.catch_up()
        super().close()

    async def __aenter__(self) -> AsyncHoldfast:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.stop()
        await asyncio.to_thread(self.close)


@checked
def open(
    url: str | PathLike[str] | None = None,
    *,
    endpoint: Counter | None = None,
    caps: Caps | None = None,
    telemetry: Telemetry | None = None,
) -> Holdfast:
    """Open a store for blocking use: a path, a URL, or the default one.

    `endpoint` counts for a provider by asking it, where an estimate is too near the limit. `caps`
    is what may be spent, where that is not what the settings say. `telemetry` is told of what
    happens; OpenTelemetry is, where it is set up.
    """
    chosen = settings(str(url) if url else None)
    clock = SystemClock()
    store = open_store(chosen.store)
    if not store.blocking:
        store.close()
        raise InvalidRequest(f"{chosen.store} only works with holdfast.open_async")
    beside = Threads()
    engine = Engine(
        store, clock=clock, ids=Ulids(clock), lock=ThreadLock, secrets=chosen.secrets,
        endpoint=endpoint, voice=spoken, spawn=beside.spawn, pause=beside.pause,
        caps=caps or chosen.caps, telemetry=telemetry or measured(),
    )  # fmt: skip
    return Holdfast(engine, beside)


class open_async:
    """Open a store for an event loop: `await open_async(url)` or `async with open_async(url)`."""

    def __init__(
        self,
        url: str | PathLike[str] | None = None,
        *,
        endpoint: Counter | None = None,
        caps: Caps | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        for name, annotation, value in (
            ("url", "str | PathLike[str] | None", url),
            ("endpoint", "Counter | None", endpoint),
            ("caps", "Caps | None", caps),
            ("telemetry", "Telemetry | None", telemetry),
        ):
            check_argument("open_async", name, annotation, value)
        self._url = url
        self._caps = caps
        self._endpoint, self._telemetry = endpoint, telemetry
        self._opened: AsyncHoldfast | None = None

    def __await__(self) -> Generator[Any, None, AsyncHoldfast]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncHoldfast:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(self, *_: object) -> None:
        if self._opened:
            await self._opened.__aexit__()

    async def _open(self) -> AsyncHoldfast:
        chosen = settings(str(self._url) if self._url else None)
        store = await asyncio.to_thread(open_store, chosen.store)
        clock = SystemClock()
        return AsyncHoldfast(
            cast(Store, Threaded(store)) if store.blocking else store,
            clock=clock, ids=Ulids(clock), lock=asyncio.Lock, secrets=chosen.secrets,
            endpoint=self._endpoint, caps=self._caps or chosen.caps,
            telemetry=self._telemetry or measured(),
        )  # fmt: skip
