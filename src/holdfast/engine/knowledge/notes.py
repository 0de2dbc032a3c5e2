"""A project's notes: kept, changed, approved, taken back; each change can be seen and reverted.

Rule 1: a write is decided in one transaction of the store, with the cursor it comes from, and
        done afterwards, as often as it takes: after a crash nothing is lost, and nothing twice.
Rule 2: where somebody changed a note meanwhile, theirs stays, and what was decided waits for
        approval.
Rule 3: the files are the truth. One that a person has edited is taken as it is, and seen in the
        history as theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.knowledge.admission import contradicts, repeats
from holdfast.core.knowledge.notes import (
    INDEX,
    Known,
    check_file,
    check_type,
    file_name,
    index,
    read_note,
    write_note,
)
from holdfast.core.search.nearest import nearest
from holdfast.engine.knowledge.shelf import Shelf, Stored, Write
from holdfast.engine.lazy import later
from holdfast.errors import InvalidRequest, NotFound
from holdfast.failpoints import failpoint
from holdfast.model.note import Cursor, Evidence, Note, NoteRecord, Trust, hash_of, id_of, least

if TYPE_CHECKING:
    from holdfast.core.knowledge.recall import Recalled
    from holdfast.engine.context import EngineContext
    from holdfast.engine.knowledge import extraction, recall
    from holdfast.engine.knowledge.recall import Recall
else:
    extraction = later("holdfast.engine.knowledge.extraction")
    recall = later("holdfast.engine.knowledge.recall")

LISTED: Final = "`holdfast memory list` has all"

Similar = Literal["repeats", "contradicts"]


class Kept(Struct, frozen=True, kw_only=True):
    """A note as it stands, with what the store knows of it."""

    file: str
    note: Note
    text: str
    modified: int
    record: NoteRecord

    @property
    def known(self) -> Known:
        """The note as a manifest lists it."""
        return Known(file=self.file, modified=self.modified, note=self.note)


class Decided(Struct, frozen=True, kw_only=True):
    """A change that was decided: the text a note is to have, empty for none."""

    file: str
    text: str
    before: str = ""
    """The text it was decided against."""
    trust: Trust = "user"
    evidence: tuple[Evidence, ...] = ()
    cause: str


class Memory:
    """The notes of one project, or of one key of a program that has no files."""

    def __init__(self, engine: EngineContext, scope: str, shelf: Shelf) -> None:
        self.engine, self.scope, self.shelf = engine, scope, shelf
        self._kept: dict[str, Kept] | None = None
        self.changes = 0
        """Counts how often what is kept was read anew because it had changed."""
        self._recall: Recall | None = None

    async def notes(self) -> dict[str, Kept]:
        """Every note by its file; writes that a crash left undone are done first."""
        await self.settle()
        stored = await self.shelf.load()
        known = await self._known()
        found: dict[str, Kept] = {}
        for file, one in stored.items():
            record = known.get(file)
            if record is None or record.id != id_of(file, one.text):
                record = await self._edited_by_hand(file, one, record)
            before = self._kept.get(file) if self._kept else None
            same = before is not None and before.text == one.text
            note = before.note if before and same else read_note(file, one.text)
            found[file] = Kept(
                file=file, note=note, text=one.text, modified=one.modified, record=record
            )
        for file in set(known) - set(stored):
            await self._removed_by_hand(known[file])
        self._changed(found)
        return found

    def _changed(self, found: dict[str, Kept]) -> None:
        before = {file: one.text for file, one in (self._kept or {}).items()}
        self.changes += before != {file: one.text for file, one in found.items()}
        self._kept = found

    async def at_hand(self) -> dict[str, Kept]:
        """The same as of when they were read last, where no note was added or taken away since."""
        if self._kept is None or not self.shelf.unchanged():
            return await self.notes()
        return self._kept

    async def note(self, name: str) -> Kept:
        """One note by its file, or by its name."""
        notes = await self.notes()
        file = name if name.endswith(".md") else f"{name}.md"
        named = [one for one in notes.values() if one.note.name == name]
        if found := notes.get(file) or (named[0] if len(named) == 1 else None):
            return found
        raise NotFound("note", name, nearest(name, notes), LISTED)

    async def index(self) -> str:
        """The index, brought up to date with notes that were added or removed by hand."""
        notes = {file: one.note for file, one in (await self.notes()).items()}
        before = await self.shelf.index()
        after = index(before, notes)
        if after != before and (notes or before):
            await self.shelf.write_index(after)
        return after

    async def add(
        self,
        body: str,
        *,
        type: str = "project",
        name: str = "",
        description: str = "",
        cause: str = "hand",
        evidence: Sequence[Evidence] = (),
    ) -> Kept:
        """Keep a new note, of the user's own."""
        kind = check_type(type)
        if not body.strip():
            raise InvalidRequest("a note says something; give it a text")
        taken = await self.notes()
        first = next(line for line in body.splitlines() if line.strip())
        file = file_name(kind, name or first, taken)
        note = Note(
            name=name or file.removesuffix(".md").partition("_")[2].replace("_", " "),
            description=description or first, type=kind, body=body, file=file,
        )  # fmt: skip
        await self.decide([
            Decided(file=file, text=write_note(note), cause=cause, evidence=tuple(evidence))
        ])  # fmt: skip
        return await self.note(file)

    async def edit(self, name: str, text: str, *, cause: str = "hand") -> Kept:
        """Put another text in the place of a note's."""
        now = await self.note(name)
        if not text.strip():
            raise InvalidRequest("a note says something; `holdfast memory forget` removes one")
        plain = write_note(read_note(now.file, text))
        change = Decided(
            file=now.file, text=plain, before=now.text, cause=cause, evidence=now.record.evidence
        )
        await self.decide([change])
        return await self.note(now.file)

    async def forget(self, name: str, *, cause: str = "forget") -> Kept:
        """Take a note away; its versions stay until they are erased."""
        now = await self.note(name)
        await self.decide([Decided(file=now.file, text="", before=now.text, cause=cause)])
        return now

    async def propose(self, change: Decided, reason: str) -> NoteRecord | None:
        """Let a change wait for approval; None where it waits or was refused already."""
        made = self.proposal(change, reason)
        if any(one.id == made.id for one in await self._records("proposal")):
            return None
        await self.engine.store.notes.commit([made])
        return made

    def proposal(self, change: Decided, reason: str) -> NoteRecord:
        """A change as it waits for approval."""
        return NoteRecord(
            scope=self.scope, kind="proposal", id=hash_of(f"{change.file}\n{change.text}"),
            created=self.engine.clock.now(), file=change.file, text=change.text,
            before=hash_of(change.before) if change.before else "", trust=change.trust,
            evidence=change.evidence, cause=change.cause, reason=reason[:1_000],
        )  # fmt: skip

    async def inbox(self) -> tuple[NoteRecord, ...]:
        """What waits for approval, the oldest first."""
        await self.settle()
        return tuple(one for one in await self._records("proposal") if not one.ended)

    async def accept(self, id: str, text: str = "") -> Kept | None:
        """Approve what waits, or another text in its place; the note that it became."""
        waiting = await self._waiting(id)
        notes = await self.notes()
        now = notes.get(waiting.file)
        wanted = write_note(read_note(waiting.file, text)) if text else waiting.text
        if now is None and waiting.before and not wanted:
            await self._end(waiting)
            return None
        file = waiting.file
        if now and not waiting.before and wanted:  # another note has its name by now
            file = file_name(now.note.type, file.removesuffix(".md").partition("_")[2], notes)
        change = Decided(
            file=file, text=wanted, before=now.text if now and file == waiting.file else "",
            cause="review", evidence=waiting.evidence,
        )  # fmt: skip
        await self.decide([change], ended=[replace(waiting, ended=self.engine.clock.now())])
        return (await self.notes()).get(file)

    async def reject(self, id: str) -> NoteRecord:
        """Refuse what waits; it is not proposed again."""
        return await self._end(await self._waiting(id))

    async def _end(self, waiting: NoteRecord) -> NoteRecord:
        ended = replace(waiting, ended=self.engine.clock.now())
        await self.engine.store.notes.commit([ended])
        return ended

    async def _waiting(self, id: str) -> NoteRecord:
        found = [one for one in await self.inbox() if one.id.startswith(id)] if id else []
        if len(found) != 1:
            near = tuple(one.id[:8] for one in await self.inbox())[:2]
            raise NotFound("proposal", id, near, "`holdfast memory review` lists what waits")
        return found[0]

    async def history(self, name: str = "") -> tuple[NoteRecord, ...]:
        """Every change, or those of one note, the oldest first."""
        await self.notes()
        file = f"{name.removesuffix('.md')}.md" if name else ""
        found = tuple(one for one in await self._records("change") if file in ("", one.file))
        if name and not found:
            raise NotFound("note", name, nearest(name, await self.notes()), LISTED)
        return found

    async def revert(self, id: str) -> Kept | None:
        """Give a note the text it had before a change; None where it had none."""
        known = [one for one in await self.history() if one.id.endswith(id.upper())] if id else []
        if len(known) != 1:
            near = tuple(one.id for one in (await self.history())[-2:])
            raise NotFound("change", id, near, "`holdfast memory history` lists them")
        change = known[0]
        now = (await self.notes()).get(change.file)
        back = Decided(
            file=change.file, text=change.before, before=now.text if now else "", cause="revert",
            evidence=change.evidence,
        )  # fmt: skip
        await self.decide([back])
        return (await self.notes()).get(change.file)

    async def decide(
        self,
        changes: Sequence[Decided],
        *,
        proposals: Iterable[NoteRecord] = (),
        ended: Iterable[NoteRecord] = (),
        cursor: Cursor | None = None,
    ) -> None:
        """Keep what was decided, all or nothing, and do it."""
        waiting = {one.id for one in await self._records("proposal")}
        pending = [
            NoteRecord(
                scope=self.scope, kind="pending", id=self.engine.ids.new(),
                created=self.engine.clock.now(), file=one.file, text=one.text, before=one.before,
                trust=one.trust, evidence=one.evidence, cause=one.cause,
            )
            for one in changes
            if one.text != one.before
        ]  # fmt: skip
        new = [one for one in proposals if one.id not in waiting]
        await self.engine.store.notes.commit([*pending, *new, *ended], cursor=cursor)
        failpoint("memory.decided")
        await self.settle()

    async def settle(self) -> None:
        """Do the writes that were decided and are not done."""
        for one in await self._records("pending"):
            before = hash_of(one.before) if one.before else ""
            if await self.shelf.apply(Write(file=one.file, text=one.text, before=before)):
                failpoint("memory.before_record")
                await self._done(one)
            else:
                late = Decided(
                    file=one.file, text=one.text, before=one.before, trust=one.trust,
                    evidence=one.evidence, cause=one.cause,
                )  # fmt: skip
                held = self.proposal(late, "the note was changed meanwhile, and that was kept")
                await self.engine.store.notes.commit([held], remove=[one])

    async def _done(self, one: NoteRecord) -> None:
        """Record a write that was done, however often that is found out."""
        known = (await self._known()).get(one.file)
        records = [replace(one, kind="change")]
        if known and known.id != id_of(one.file, one.text):
            records.append(replace(known, ended=one.created))
        if one.text:
            records.append(self._record(one, known))
        await self.engine.store.notes.commit(records, remove=[one])

    def _record(self, change: NoteRecord, known: NoteRecord | None) -> NoteRecord:
        evidence = (*(known.evidence if known else ()), *change.evidence)
        trust = least((known.trust, change.trust)) if known else change.trust
        return NoteRecord(
            scope=self.scope, kind="note", id=id_of(change.file, change.text), file=change.file,
            created=known.created if known else change.created,
            used=known.used if known else 0, uses=known.uses if known else 0,
            trust="user" if change.cause in ("hand", "review") else trust,
            evidence=tuple(dict.fromkeys(evidence)), cause=change.cause,
        )  # fmt: skip

    async def _edited_by_hand(self, file: str, now: Stored, known: NoteRecord | None) -> NoteRecord:
        before = await self._text_of(file) if known else ""
        change = NoteRecord(
            scope=self.scope, kind="change", id=self.engine.ids.new(), cause="hand",
            created=self.engine.clock.now(), file=file, text=now.text, before=before,
            evidence=known.evidence if known else (),
        )  # fmt: skip
        made = self._record(change, known)
        ended = [replace(known, ended=change.created)] if known else []
        await self.engine.store.notes.commit([change, made, *ended])
        return made

    async def _removed_by_hand(self, known: NoteRecord) -> None:
        change = NoteRecord(
            scope=self.scope, kind="change", id=self.engine.ids.new(), cause="hand",
            created=self.engine.clock.now(), file=known.file, text="",
            before=await self._text_of(known.file), evidence=known.evidence,
        )  # fmt: skip
        ended = replace(known, ended=change.created)
        await self.engine.store.notes.commit([change, ended])

    async def _text_of(self, file: str) -> str:
        """What a note said when it was recorded last."""
        changes = [one for one in await self._records("change") if one.file == file]
        return changes[-1].text if changes else ""

    async def _known(self) -> dict[str, NoteRecord]:
        """The record of each note that stands, by its file."""
        records = await self._records("note")
        return {one.file: one for one in records if not one.ended}

    async def _records(self, kind: Literal["note", "proposal", "pending", "change"]) -> tuple[
        NoteRecord, ...
    ]:  # fmt: skip
        return await self.engine.store.notes.records(self.scope, kind)

    async def similar(self, body: str, *, but: str = "") -> list[tuple[str, Similar]]:
        """The notes that say the same as a text, or what cannot hold beside it."""
        found: list[tuple[str, Similar]] = []
        lines = [line for line in body.splitlines() if line.strip() and not line.startswith("**")]
        for file, one in (await self.notes()).items():
            theirs = [line for line in one.note.body.splitlines() if line.strip()]
            pairs = [(a, b) for a in lines for b in theirs if not b.startswith("**")]
            if file == but:
                continue
            if any(contradicts(a, b) for a, b in pairs):
                found.append((file, "contradicts"))
            elif any(repeats(a, b) for a, b in pairs):
                found.append((file, "repeats"))
        return found

    @property
    def recalling(self) -> Recall:
        """The notes, ready to be asked."""
        if self._recall is None:
            self._recall = recall.Recall(self)
        return self._recall

    async def recall(self, query: str, *, most: int = 5) -> tuple[Recalled, ...]:
        """The notes that are certain to help with a question; often none."""
        return await self.recalling.find(query, most=most)

    async def reminder(self, found: Sequence[Recalled], *, allowance: int = 2_000) -> str:
        """What a model is shown of them; their use is recorded."""
        await self.recalling.used(found)
        return recall.reminder(found, self.engine.clock.now(), allowance)

    async def extract(
        self, session: extraction.ExtractedSession, limits: extraction.Limits | None = None
    ) -> extraction.Extracted:
        """Keep what a session's newest turns leave for later."""
        return await extraction.Extraction(session, self, limits or extraction.Limits()).run()

    async def export(self) -> dict[str, str]:
        """All texts by file, the index among them."""
        notes = {file: one.text for file, one in (await self.notes()).items()}
        return {INDEX: await self.index(), **notes} if notes else {}

    async def import_notes(self, texts: Mapping[str, str]) -> list[Kept]:
        """Take notes over from files; one whose name is taken with another text gets a new name."""
        there, changes = await self.notes(), list[Decided]()
        taken = set(there)
        for file, text in texts.items():
            if file == INDEX:
                continue
            note = read_note(check_file(file), text)
            plain = write_note(note)
            if file in there and there[file].text == plain:
                continue
            name = file
            if file in taken:
                name = file_name(note.type, file.removesuffix(".md").partition("_")[2], taken)
            taken.add(name)
            changes.append(Decided(file=name, text=plain, cause="import"))
        await self.decide(changes)
        notes = await self.notes()
        return [notes[one.file] for one in changes if one.file in notes]
