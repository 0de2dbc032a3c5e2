"""The engine: what can be done with a store, written once for both doors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, get_args

import msgspec

from holdfast.core.log.validate import own_id, text
from holdfast.core.search.nearest import nearest
from holdfast.core.secrets import redact
from holdfast.engine import loading
from holdfast.engine.arguments import checks_arguments
from holdfast.engine.compaction.hooks import CompactionHooks, Heard, Hook, Voice, Work
from holdfast.engine.compaction.stored_policies import KeptCatalogue, KeptPolicies
from holdfast.engine.context import Lock
from holdfast.engine.erasure import Erasures
from holdfast.engine.exporting.output_path import placing
from holdfast.engine.importing.batch import run
from holdfast.engine.importing.discovery import Source, find, left_aside, usual
from holdfast.engine.importing.source import Reading
from holdfast.engine.inspect.lookup import respelled
from holdfast.engine.knowledge.project import memory_of
from holdfast.engine.lazy import later
from holdfast.engine.plugins import catalogue, counter, embedder
from holdfast.engine.session import AsyncSession
from holdfast.engine.settings import settings
from holdfast.engine.usage.costs import By, Costs, costs
from holdfast.engine.usage.held_costs import HeldCosts
from holdfast.engine.usage.telemetry import Watch
from holdfast.engine.workspace.directories import Directories, forget_saved
from holdfast.engine.writer import OnConflict
from holdfast.errors import Ambiguous, InvalidRequest, NotFound
from holdfast.files import project_root, write_atomic
from holdfast.model.import_report import ImportReport
from holdfast.model.log import SessionInfo
from holdfast.model.policy import Policy
from holdfast.model.search import Hit, Query, Where
from holdfast.model.span import OPEN
from holdfast.model.spending import Caps
from holdfast.model.store import Erased, Erasing, Finding, OfBackups, Page
from holdfast.model.workspace import KeptFiles
from holdfast.ports import Catalogue, Clock, Counter, Ids, Store, Telemetry

if TYPE_CHECKING:
    from holdfast.core.search import dates
    from holdfast.core.stats import Stats
    from holdfast.engine.exporting.export import Exported
    from holdfast.engine.exporting.handoff import Handed
    from holdfast.engine.knowledge import forgetting
    from holdfast.engine.knowledge.instructions import Instructions
    from holdfast.engine.knowledge.notes import Memory
    from holdfast.engine.usage.stats import By as Apart

else:  # few sessions are erased, and few programs search
    dates = later("holdfast.core.search.dates")
    forgetting = later("holdfast.engine.knowledge.forgetting")

LISTED = "`holdfast sessions` lists them"

SHORTEST_PREFIX = 6
"""How much of an id must be given for it to stand for the whole."""


NO_CAPS = Caps()


async def in_place(work: Callable[[], Any]) -> Any:
    """Do what blocks where it is asked for."""
    return work()


_RESUMED = (
    "a session that is resumed keeps what it was made with; rename(…) gives it another title, "
    "window(model=…, policy=…) another model or policy"
)


@checks_arguments
class Engine:
    """Everything Holdfast does, for whoever opened it."""

    trust = ""
    """Which files of projects act in this process: ask, always or never; empty: as set."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        ids: Ids,
        lock: Callable[[], Lock],
        secrets: tuple[str, ...] = (),
        catalogue: Catalogue | None = None,
        endpoint: Counter | None = None,
        voice: Callable[[Voice], Heard] | None = None,
        spawn: Callable[[Work], None] | None = None,
        pause: Callable[[float], Awaitable[None]] | None = None,
        caps: Caps = NO_CAPS,
        telemetry: Telemetry | None = None,
        aside: Callable[[Callable[[], Any]], Awaitable[Any]] | None = None,
    ) -> None:
        self.store = store
        self.clock, self.ids = clock, ids
        self.directories = Directories(secrets)
        self.lock = lock
        self.secrets = secrets
        self._catalogue = catalogue
        self.endpoint = endpoint
        """Counts for a provider by asking it; None where nobody is to be asked."""
        self.spawn, self.pause = spawn, pause
        """Run work beside the turns, and wait a little: as the door does it, if it does."""
        self.aside = aside or in_place
        """Does what blocks, such as reading files, in the door's colour."""
        self._erasures = Erasures(self)
        self.voice = voice
        """Calls whoever writes summaries, in the door's colour."""
        self.caps, self.held = caps, HeldCosts()
        """What may be spent, and what is held for calls under way."""
        self.watch = Watch(telemetry)
        """Told of everything that happens."""
        self.kept_policies = KeptPolicies()
        """The policies of the user's own that sessions opened here are managed by."""
        self.appended = False
        """Whether anything was, so that search has something to catch up with."""

    @cached_property
    def _memories(self) -> dict[str, Memory]:
        return {}

    @property
    def catalogue(self) -> Catalogue:
        """What is known of models and policies; the built-in one is loaded when first asked for."""
        return cast(Catalogue, KeptCatalogue(self._catalogue or catalogue(), self.kept_policies))

    def counter(self, vocabulary: str) -> Counter:
        """What counts exactly with a vocabulary."""
        return counter(vocabulary)

    async def session(
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
    ) -> AsyncSession:
        """A new session, or with `id` the one to resume.

        With `create` the id is the caller's own, taken as it is: its session is opened where it is
        there, and made where it is not. Model, directory, title and policy are for making it.
        Where another writer went on first, a message is appended behind theirs; `on_conflict` may
        be "fork" or "raise" instead.
        `summariser` answers questions on the side, first as `weak_model` where one is named;
        without one, summaries are made without a model. `hooks` see each compaction beforehand.
        `cap` is what it may cost in US dollars: the next call is refused as Capped before it is.
        """
        if on_conflict not in get_args(OnConflict):
            raise InvalidRequest(f"on_conflict is 'append', 'fork' or 'raise', not {on_conflict!r}")
        voice = self.voice(summariser) if summariser and self.voice else None
        upkeep = CompactionHooks(voice=voice, weak_model=weak_model, hooks=tuple(hooks))
        if id and not create and (model or directory or title or policy != "holdfast"):
            raise InvalidRequest(_RESUMED)
        if create:
            found = await self._found_or_created(id, model, directory, title, policy)
        elif id:
            found = await self.resolve(id)
        else:
            found = await self._created(self.ids.new(), model, directory, title, policy)
        await self.kept_policies.load(self.store, found.id, found.policy)
        spent = await self._spent(found) if id else 0
        return AsyncSession(self, found, on_conflict, spent, upkeep).set_caps(session=cap)

    async def _found_or_created(
        self,
        id: str,
        model: str,
        directory: str | PathLike[str],
        title: str,
        policy: str | Policy,
    ) -> SessionInfo:
        """The session of exactly this id; of several that make it at once, one does."""
        known = await self.store.sessions.find(own_id(id))
        if known:
            return known
        try:
            return await self._created(id, model, directory, title, policy)
        except InvalidRequest:
            made = await self.store.sessions.find(id)  # by another writer, meanwhile
            if made is None:
                raise
            return made

    async def _created(
        self, id: str, model: str, directory: str | PathLike[str], title: str, policy: str | Policy
    ) -> SessionInfo:
        where, project = _places(directory)
        named, content = self.kept_policies.named(policy, self.catalogue)
        made = await self.store.sessions.create(
            SessionInfo(
                id=id,
                created=self.clock.now(),
                model=text(model, "a model"),
                directory=where,
                project=project,
                title=redact(text(title, "a title"), self.secrets),
                policy=named,
            )
        )
        if content:
            await self.store.calls.keep(made.id, content)
        return made

    async def _spent(self, session: SessionInfo) -> int:
        return (await self.store.calls.spent(session.id))[0].cost

    async def resolve(self, id: str, *, prefix: bool = False) -> SessionInfo:
        """The session of exactly this id; with `prefix` also of the only one that begins so.

        Without it an error names no other session: whoever asks may not be whose they are.
        """
        known = await self.store.sessions.find(id)
        if known or not prefix:
            return known or await self.store.sessions.session(id)
        begun = await self.store.sessions.beginning(id) if id else ()
        if len(begun) > 1:
            raise Ambiguous("session", id, begun[:2], len(begun))
        if len(id) < SHORTEST_PREFIX or not begun:
            known_ids = [one.id async for one in self.every_session()]
            raise NotFound("session", id, begun or nearest(id, known_ids), LISTED)
        return await self.store.sessions.session(begun[0])

    async def sessions(
        self,
        *,
        project: str | None = None,
        archived: bool = False,
        limit: int = 50,
        after: SessionInfo | None = None,
    ) -> tuple[SessionInfo, ...]:
        """Sessions by last change, newest first; `after` is the last one of the page before."""
        start = (after.updated, after.id) if after else None
        return await self.store.sessions.list(
            Page(project=project, archived=archived, limit=limit, after=start)
        )

    async def every_session(self) -> AsyncIterator[SessionInfo]:
        """All sessions, archived ones last."""
        for archived in (False, True):
            last: SessionInfo | None = None
            while page := await self.sessions(archived=archived, limit=200, after=last):
                for last in page:
                    yield last

    async def opening(self, session: SessionInfo) -> str:
        """The first words the user said in it; empty where they are not near its beginning."""
        return await loading.opening(self.store.log, session.id)

    async def forks(self, session: SessionInfo) -> tuple[SessionInfo, ...]:
        """The sessions that begin with a part of this one."""
        return tuple([one async for one in self.every_session() if one.parent == session.id])

    async def discard(self, id: str) -> bool:
        """Let a session go in which nothing was said; False where it holds anything."""
        return await self.store.sessions.discard(id)

    async def erase(
        self, id: str, *, backups: OfBackups = "rewrite", background: bool = True
    ) -> Erased:
        """Erase a session for good; forks of it keep what they share with it.

        Backups that hold it are rewritten without it by a job beside, which the answer names and
        `finish_erasing` waits for; with `backups="delete"` they are removed at once.
        """
        if backups not in ("rewrite", "delete"):
            raise InvalidRequest(f"backups is 'rewrite' or 'delete', not {backups!r}")
        found = await self.resolve(id)
        await self.aside(lambda: forget_saved(found.id))
        scrubbed = await forgetting.scrub(self, found.id)
        erased = await self.store.sessions.erase(found.id, backups=backups)
        erased = msgspec.structs.replace(erased, notes=scrubbed)
        if background and (erased.holding or erased.held):
            self._erasures.begin()
        return erased

    async def finish_erasing(self) -> tuple[Erasing, ...]:
        """Erase what erased sessions have left in backups and the search index, step by step.

        What became of each of them, also where the job beside has ended it since this was asked
        last; nothing of one that another process is at.
        """
        return await self._erasures.finish()

    async def search(
        self, words: str, *, meaning: bool = False, **where: Unpack[Where]
    ) -> tuple[Hit, ...]:
        """Find what was said, everywhere or where a `Query` says; nothing is out of reach.

        What has every word comes first; where that is little, what has some of the words follows,
        ranked, unless `any=False`. With `meaning`, also what says the same in other words, where
        the extra is installed.
        """
        if inside := where.get("session"):
            where["session"] = (await self.resolve(inside)).id
        where.setdefault("any", True)
        times = dates.asked_times(words, self.clock.now)
        by = await self.aside(embedder) if meaning else None
        return await self.store.search.find(Query(words=words, prefer=times, **where), by)

    async def respelled(self, words: str) -> str:
        """The same words, each that was never said as the nearest that was; empty where none is."""
        return await respelled(self.store, words)

    async def costs(
        self,
        by: By,
        *,
        project: str | None = None,
        agent: str = "",
        session: str = "",
        since: int = 0,
        until: int = OPEN,
    ) -> list[Costs]:
        """What calls cost by period, model, session, project, agent or cause: all of them.

        `since` and `until` are times in ms: calls that were begun from the one on and before the
        other.
        """
        return await costs(
            self, by, project=project, agent=agent, session=session, since=since, until=until
        )

    def memory(self, project: str | PathLike[str] = "", *, key: str = "") -> Memory:
        """The notes of a project, in files; or with `key`, of a program without files, kept here.

        Without either, those of the project that the working directory is in.
        """
        scope = key or str(project_root(project or "."))
        if scope not in self._memories:
            self._memories[scope] = memory_of(self, scope, files=not key)
        return self._memories[scope]

    async def stats(self, by: Apart = "agent", *, since: int = 0) -> list[Stats]:
        """What sessions show by agent, project or model: usage, compactions, what filled them."""
        from holdfast.engine.usage.stats import stats

        return await stats(self, by, since)

    async def index(self, limit: int = 1000, *, meaning: bool = False) -> int:
        """Index a little of what cannot be searched yet; how many parts, 0 when all can be."""
        return await self.store.search.catch_up(
            limit, await self.aside(embedder) if meaning else None
        )

    async def transcripts(
        self, *paths: str | PathLike[str], agents: Sequence[str] = (), others: bool = False
    ) -> list[Source]:
        """Transcripts of other programs: at these paths, or in the usual places if none.

        With `others` also the files there that are none: `why` says so, and nobody imports them.
        """
        places = [Path(path) for path in paths] or list(usual(Path.home(), agents))
        return await self.aside(lambda: list(find(places, agents, others=others)))

    async def import_sources(
        self, sources: Sequence[Source], *, fresh: bool = False, again: bool = False,
        reading: Reading | None = None,
    ) -> AsyncIterator[ImportReport]:  # fmt: skip
        """Import transcripts; with `fresh` a reply that may still grow is left for the next time.

        What was imported before is not imported again; what has been added to it is. A file that
        was named, and is no transcript, has that as its problem. With `again` all is read again to
        tell its problems. `reading` is told how far a large one is.
        """
        for report in map(left_aside, (one for one in sources if one.named)):
            yield report
        async for report in run(self, sources, fresh=fresh, again=again, reading=reading):
            yield report

    async def import_from(
        self, *paths: str | PathLike[str], agents: Sequence[str] = ()
    ) -> AsyncIterator[ImportReport]:
        """Find transcripts and import them, one after the other; what each has brought."""
        async for report in self.import_sources(await self.transcripts(*paths, agents=agents)):
            yield report

    async def export(
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
        from holdfast.engine.exporting.export import Exporting, exported

        session = await self.session(id)
        making = Exporting(session, session.turns, to, model=model, raw=raw, boundaries=boundaries)
        made = await exported(making)
        if file:
            with placing(file):
                await self.aside(lambda: write_atomic(file, made.data))
        return made

    async def handoff(
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
        from holdfast.engine.exporting.handoff import hand_over, put

        session = await self.session(id)
        own = "" if directory else session.info.directory
        where = own or _places(directory or ".")[0]
        handed = await hand_over(session, session.turns, to, directory=where, model=model, raw=raw)
        if home and handed.name:
            await self.aside(lambda: put(handed, Path(home)))
        return handed

    async def instructions(
        self, directory: str | PathLike[str] = "", *, trust: str = ""
    ) -> Instructions:
        """The instruction files of a directory, as a source for `window(sources=…)`.

        `trust` says which files of the project act: those the user approved ("ask"), all
        ("always"), or none ("never"); without it, as the settings say.
        """
        from holdfast.engine.knowledge.instructions import instructions

        return await instructions(directory or ".", trust or self.trust, self.aside)

    async def checkpoints(self, session: str = "") -> KeptFiles:
        """How much is kept of what files held, of one session or of all."""
        return await self.store.files.kept(session)

    async def prune_checkpoints(self, days: int | None = None) -> KeptFiles:
        """Let go of what files held longer ago than the settings say, or than `days`; what went."""
        chosen = settings().checkpoints
        days = chosen.days if days is None else days
        if days <= 0:
            return KeptFiles()
        before = self.clock.now() - days * 86_400_000
        return await self.store.files.forget(before, chosen.keep)

    async def examinable(self) -> tuple[str, ...]:
        """The ids of the sessions that can be examined, however damaged they are."""
        return await self.store.care.ids()

    async def examine(self, session: str = "") -> tuple[Finding, ...]:
        """What is not as it should be, of the store or of one session; () when all is well."""
        return await self.store.care.examine(session)

    async def backup(self) -> str:
        """A private copy of the store beside it; its path."""
        return await self.store.care.backup()

    async def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Mend what can be mended without losing anything; what was mended."""
        return await self.store.care.repair(findings)

    def close(self) -> None:
        """Let go of the store, and of the endpoint that counts."""
        self.directories.close()
        self.store.close()
        if self.endpoint:
            self.endpoint.close()


def _places(directory: str | PathLike[str]) -> tuple[str, str]:
    """A directory in full, and the project it belongs to; empty where none is named."""
    if not directory:
        return "", ""
    return str(Path(directory).absolute()), str(project_root(directory))
