"""The two-stage memory: sessions into rows when one begins, rows into one memory when any is new.

Rule 1: a session is worked on under a lease, tried again where that failed, and kept in one step.
Rule 2: consolidation runs under a lock of the directory, and only where a row is new or gone. What
        it decides is kept as notes are: a crash loses nothing, and each change can be reverted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

import msgspec
from msgspec.structs import replace

from holdfast.core.knowledge import consolidation as rules
from holdfast.core.knowledge.authored import Said, authored
from holdfast.core.knowledge.consolidation import Rollout
from holdfast.core.knowledge.extraction import DESK_TOOLS, Desk
from holdfast.core.knowledge.notes import file_name, write_note
from holdfast.core.knowledge.quotations import Quotable
from holdfast.core.log.transcript_text import chunks, told
from holdfast.core.secrets import mask
from holdfast.engine import loading
from holdfast.engine.calls.ask import Question, room_for
from holdfast.engine.compaction.lease import Lease
from holdfast.engine.knowledge.extraction import days, rounds
from holdfast.engine.knowledge.model_call import ask_within
from holdfast.engine.knowledge.notes import Decided, Memory
from holdfast.engine.knowledge.shelf import PlainShelf
from holdfast.errors import Unsafe
from holdfast.failpoints import failpoint
from holdfast.files import Root, locked, private_directory
from holdfast.model.log import Entry, SessionInfo
from holdfast.model.message import Message
from holdfast.model.note import Evidence, Note, NoteRecord, hash_of
from holdfast.model.span import EVERYTHING
from holdfast.model.store import Page

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

TIMEOUT: Final = 180.0
MOST: Final = 6_000
DONE: Final = ".consolidated"
"""Says which rows the memory was made of."""

MOST_SAID: Final = 200


class Opens(Protocol):
    """What opens another session."""

    async def session(self, id: str) -> SessionContext: ...


class Pipeline:
    """The two stages for one project, asked for by one session that pays."""

    def __init__(self, session: SessionContext, memory: Memory, *, model: str, cap: int) -> None:
        self._session, self._notes = session, memory
        self._model, self._cap = model or session.info.model, cap
        self.memory = consolidated(memory)

    async def run(self) -> list[str]:
        """Both stages; the sessions that were new."""
        new = await self.stage_one()
        await self.stage_two()
        return new

    async def stage_one(self) -> list[str]:
        """Turn finished sessions into rows; those that became one."""
        done: list[str] = []
        known = {one.session: one for one in await rollouts(self._notes)}
        for info in await self._finished(known):
            other = await cast("Opens", self._notes.engine).session(info.id)
            if await self._failed(other):
                continue
            flight = await Lease.begin(other, "memory rollout", TIMEOUT)
            if flight is None:
                continue
            outcome = "failed"
            try:
                failpoint("memory.rollout_leased")
                if await self._row(other, info):
                    outcome = "done"
                    done.append(info.id)
            finally:
                await flight.end(outcome)
        return done

    async def _finished(self, known: dict[str, Rollout]) -> list[SessionInfo]:
        """Sessions of the project that are idle, not too old, and not done as far as they go."""
        session, now = self._session, self._session.now()
        page = await session.store.sessions.list(Page(project=session.info.project, limit=200))
        found = [
            one
            for one in page
            if one.id != session.id and one.head and not one.is_subtask
            and rules.IDLE <= now - one.updated <= rules.OLDEST
            and (one.id not in known or known[one.id].head < one.head)
        ]  # fmt: skip
        return found[: rules.AT_ONCE]

    async def _failed(self, other: SessionContext) -> bool:
        jobs = await other.store.jobs.jobs(other.id)
        mine = [one for one in jobs if one.kind.startswith("memory rollout")]
        return sum(one.outcome == "failed" for one in mine) >= rules.TRIES

    async def _row(self, other: SessionContext, info: SessionInfo) -> bool:
        entries: list[Entry] = []
        async for page in loading.pages(other.store.log, info.id, EVERYTHING, bare=True):
            entries += [one for one in page if isinstance(one.body, Message)]
        profile = self._session.catalogue.profile(self._model)
        room = max(room_for(profile, MOST) - 2_000, 512)
        texts = [mask(text)[:4_000] for text in map(told, entries) if text]
        pieces = list(chunks(texts, room))
        contents = pieces[0] if len(pieces) == 1 else _ends(texts, room)
        asked = Question(
            profile, rules.STAGE_ONE, rules.question(info.id, info.directory, contents),
            cause="memory", most=MOST, timeout=TIMEOUT,
        )  # fmt: skip
        made = rules.answer((await ask_within(self._session, asked, self._cap)).text)
        if made is None:
            return False
        said = authored(entries, days(entries))[:MOST_SAID]
        raw, summary, slug = made
        row = Rollout(
            session=info.id, head=info.head, cwd=info.directory, at=info.updated, raw=raw,
            summary=summary, slug=slug,
            said=tuple(f"{one.day.isoformat()} {mask(one.text)}" for one in said),
        )  # fmt: skip
        await other.store.notes.commit([_record(self._notes, row)])
        failpoint("memory.rollout_kept")
        return True

    async def stage_two(self) -> bool:
        """Merge the rows into the memory, where any is new or gone; whether it was done."""
        rows = await rollouts(self._notes)
        place = Path(self.memory.shelf.place)
        made_of = hash_of("\n".join(sorted(f"{one.session} {one.head}" for one in rows)))
        await self.memory.settle()
        if _done(place) == made_of or not rows:
            return False
        private_directory(place)
        try:
            with locked(place / ".consolidating", 0.0):
                _lay_out(place, rows)
                failpoint("memory.laid_out")
                if not await self._merged(place, rows):
                    return False
                failpoint("memory.consolidated")
                Root(place).write(DONE, made_of.encode())
        except Unsafe:
            return False  # somebody else is at it
        return True

    async def _merged(self, place: Path, rows: list[Rollout]) -> bool:
        kept = await self.memory.notes()
        texts = {file: one.text for file, one in kept.items()}
        desk = Desk(str(place), {**rules.files(rows), **texts}, writes=PlainShelf.is_ours)
        profile = self._session.catalogue.profile(self._model)
        why = await rounds(
            self._session, desk, profile, rules.task(str(place), rows), (), DESK_TOOLS, None,
            self._cap,
        )  # fmt: skip
        if why:
            return False
        said, changes, held = _said(rows), list[Decided](), list[str]()
        evidence = tuple(Evidence(one.session, "") for one in rows)
        for file, text in desk.written.items():
            now = rules.merged(text, texts.get(file, ""), rows, said)
            held += now.held
            if now.text and now.text != texts.get(file, ""):
                changes.append(Decided(
                    file=file, text=now.text, before=texts.get(file, ""), cause="consolidation",
                    evidence=evidence,
                ))  # fmt: skip
        await self.memory.decide(changes)
        await self._wait(list(dict.fromkeys(held)), evidence)
        return True

    async def _wait(self, lines: list[str], evidence: tuple[Evidence, ...]) -> None:
        """Let what the user did not say wait for their approval, as one note."""
        if not lines:
            return
        body = "\n".join(f"- {line}" for line in lines)
        file = file_name("project", f"consolidated {hash_of(body)[:8]}")
        note = Note(name="from earlier sessions", description=lines[0][:140], type="project",
                    body=body, file=file)  # fmt: skip
        change = Decided(file=file, text=write_note(note), trust="tool", evidence=evidence,
                         cause="consolidation")  # fmt: skip
        await self._notes.propose(change, "not found in what the user wrote")


def consolidated(memory: Memory) -> Memory:
    """The consolidated memory of a project, beside its notes."""
    place = Path(memory.shelf.place).parent / "memories"
    return Memory(memory.engine, f"{memory.scope}#memories", PlainShelf(memory.engine, place))


async def rollouts(memory: Memory) -> list[Rollout]:
    """The rows of a project, the oldest first."""
    records = await memory.engine.store.notes.records(memory.scope, "rollout")
    return [
        replace(msgspec.json.decode(one.text.encode(), type=Rollout), uses=one.uses, used=one.used)
        for one in records
    ]


async def summary_now(memory: Memory) -> str:
    """The summary as it is put before a session now; empty where there is none."""
    kept = (await consolidated(memory).notes()).get(rules.SUMMARY)
    now = memory.engine.clock.now()
    return rules.injected(kept.text, await rollouts(memory), now) if kept else ""


async def count_citations(memory: Memory, text: str) -> None:
    """Count the sessions that a reply cites as used."""
    if ids := rules.cited(text, await rollouts(memory)):
        now = memory.engine.clock.now()
        await memory.engine.store.notes.used(memory.scope, ids, now)


async def erase_rollout(memory: Memory, session: str, quotable: Quotable) -> None:
    """Take a session out of the consolidated memory: its row, its summary, and what quotes it."""
    rows = await rollouts(memory)
    gone = [one for one in rows if one.session == session]
    if not gone or not memory.shelf.place:
        return
    left = [one for one in rows if one.session != session]
    await memory.engine.store.notes.commit(remove=[_record(memory, one) for one in gone])
    whole = consolidated(memory)
    _lay_out_again(Path(whole.shelf.place), left)
    changes = [
        Decided(file=file, text=plain, before=one.text, cause="erase")
        for file, one in (await whole.notes()).items()
        if (plain := quotable.without_lines(one.text)) != one.text
    ]
    await whole.decide(changes)
    for kind in ("change", "pending"):
        records = await memory.engine.store.notes.records(whole.scope, kind)
        stale = [one for one in records if any(e.session == session for e in one.evidence)
                 or one.cause == "erase"]  # fmt: skip
        await memory.engine.store.notes.commit(remove=stale)


def _record(memory: Memory, row: Rollout) -> NoteRecord:
    return NoteRecord(
        scope=memory.scope, kind="rollout", id=row.session, created=row.at, trust="model",
        text=msgspec.json.encode(row).decode(), evidence=(Evidence(row.session, ""),),
        cause="consolidation",
    )  # fmt: skip


def _said(rows: list[Rollout]) -> list[Said]:
    from datetime import date

    return [
        Said(text=text, evidence=Evidence(one.session, ""), day=date.fromisoformat(day))
        for one in rows
        for day, _, text in (line.partition(" ") for line in one.said)
    ]


def _lay_out(place: Path, rows: list[Rollout]) -> None:
    """Write the rows as files, and remove those of rows that are gone."""
    root, made = Root(place), rules.files(rows)
    root.make_directory(rules.SUMMARIES)
    for found in root.listing(rules.SUMMARIES):
        if found.path not in made:
            root.remove(found.path)
    for file, text in ({rules.RAW: ""} | made).items():
        root.write(file, text.encode("utf-8", "replace"))


def _lay_out_again(place: Path, rows: list[Rollout]) -> None:
    """Write what is left of the rows, which is to be merged anew."""
    if place.is_dir():
        _lay_out(place, rows)
        Root(place).write(DONE, b"")


def _done(place: Path) -> str:
    try:
        return Root(place).read(DONE, 1_000).decode("ascii", "replace")
    except (FileNotFoundError, Unsafe):
        return ""


def _ends(texts: list[str], room: int) -> str:
    """The beginning and the end of what is too long, with a word on what lies between."""
    first = next(chunks(texts, room // 2), "")
    last = next(chunks(texts[::-1], room // 2), "")
    return f"{first}\n\n[… the middle is left out]\n\n{last}"
