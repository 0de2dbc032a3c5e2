"""An agent's notes: told of at the start, recalled before a turn, kept by its own tools and after.

Rule 1: what the user asks to be remembered or forgotten is done at once, and the model is told.
Rule 2: what the model keeps is held against the user's words; what is not theirs waits for them.
Rule 3: nothing about notes ever fails a turn: it is said as a warning, and the turn goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from holdfast.agent.events import AgentEvent
from holdfast.core.knowledge.notes import INDEX
from holdfast.core.knowledge.recall import shown_in
from holdfast.core.log.tool_input import text_of
from holdfast.core.window.scaffold import wrap
from holdfast.engine.bridge import drive
from holdfast.engine.knowledge.extraction import Limits, act_at_once
from holdfast.engine.knowledge.own_notes import OwnNotes
from holdfast.engine.knowledge.source import NotesSource
from holdfast.engine.settings import MemorySettings, settings
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text
from holdfast.model.span import Span
from holdfast.model.window import Tool

if TYPE_CHECKING:
    from holdfast.engine.client import Session
    from holdfast.engine.knowledge.instructions import Instructions
    from holdfast.engine.knowledge.project import ProjectMemory
    from holdfast.engine.session import AsyncSession

NANO: Final = 1_000_000_000

TOOLS_LOOKED_AT: Final = 40
"""So many of the newest entries say which tools are in use."""

REMEMBER: Final = Tool(
    name="remember",
    description=(
        "Keep a note for later sessions: what the user told about themselves, how they want work "
        "done, facts of the project that its files do not tell, where things are found elsewhere. "
        "Quote the user's own words where there are any; anything else waits for their approval."
    ),
    schema={
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to keep, in the user's words."},
            "type": {
                "type": "string",
                "enum": ["user", "feedback", "project", "reference"],
                "description": "What kind of note it is.",
            },
            "file": {"type": "string", "description": "A note to add it to, if one fits."},
        },
        "required": ["text", "type"],
    },
)

FORGET: Final = Tool(
    name="forget",
    description=(
        "Take a note away that is wrong or outdated. Where the user has not asked for it, it waits "
        "for their approval."
    ),
    schema={
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "The note, such as user_role.md."}
        },
        "required": ["file"],
    },
)

NOTE_TOOLS: Final = (REMEMBER, FORGET)


class AgentMemory:
    """The notes of the project that an agent works in."""

    def __init__(
        self, session: Session, notes: ProjectMemory, chosen: MemorySettings, *, extracts: bool,
        tell: Callable[[AgentEvent], None],
    ) -> None:  # fmt: skip
        self._session, self.notes, self._chosen = session, notes, chosen
        self._extracts = extracts
        self._tell = tell
        self._own = OwnNotes(notes.inner)
        self.source = NotesSource(session.inner, notes.inner)
        self._went_through: set[str] = set()
        """Sessions at whose begin finished ones were gone through."""
        self._due = self._working = False
        self._later: list[str] = []
        """What was noted beside the turns, to be told at the next one."""
        self.instruction_files: Instructions | None = None
        """What the instruction files say already is not kept twice."""

    @property
    def instructions(self) -> tuple[str, ...]:
        """The lines of the instruction files that act."""
        files = self.instruction_files.files if self.instruction_files else ()
        return tuple(line for one in files if one.acts for line in one.text.splitlines())

    def tools(self) -> list[Tool]:
        """What the model may do with notes."""
        return list(NOTE_TOOLS)

    def answer(self, name: str, fields: dict[str, Any]) -> str | None:
        """What a call about notes is answered; None where it is about anything else."""
        session = self._session.inner
        if name == "remember":
            text, type = text_of(fields, ("text",)), text_of(fields, ("type",)) or "project"
            if not text.strip():
                raise InvalidRequest("remember needs a text; quote what is to be kept")
            return drive(self._own.remember(session, text, type, text_of(fields, ("file",))))
        if name == "forget":
            return drive(self._own.forget(session, text_of(fields, ("file",))))
        return self._of_files(name, text_of(fields, ("path",)))

    def _of_files(self, name: str, path: str) -> str | None:
        """What the file tools say of a note: it can be read; it is written as a note is."""
        place = self.notes.place
        if not place or name not in ("read", "write", "edit") or not os.path.isabs(path):
            return None
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(place))
        if inside.startswith(os.pardir) or inside == os.curdir:
            return None
        if name != "read":
            raise InvalidRequest(f"{path} is a note; use remember to keep one, forget to remove it")
        return self.notes.index() if inside == INDEX else self.notes.note(inside).text

    def begin(self, text: str) -> None:
        """Show the notes that help with what is about to be said."""
        while self._later:
            self._note(self._later.pop(0))
        with_model = self._chosen.model
        try:
            found = self._find(text, with_model)
            told = self.notes.reminder(found, allowance=self._chosen.allowance) if found else ""
        except (HoldfastError, OSError) as error:
            self._warn(f"no note was recalled: {error}")
            return
        if told:
            self._say(told)
            names = ", ".join(one.file for one in found)
            self._note(f"recalled {names}")

    def _find(self, text: str, model: str) -> Any:
        recalling = self.notes.inner.recalling
        return drive(recalling.find(
            text, shown=self._shown(), tools=self._tools_in_use(), session=self._session.inner,
            model=model, cap=self._cap,
        ))  # fmt: skip

    @property
    def _cap(self) -> int:
        return int(self._chosen.cap * NANO)

    def _shown(self) -> set[str]:
        """The notes that stand in what is visible now."""
        return {id for entry in self._session.visible() for _, id in shown_in(entry)}

    def _tools_in_use(self) -> list[str]:
        newest: list[Entry] = [*self._session.visible()][-TOOLS_LOOKED_AT:]
        names = [c.name for e in newest if isinstance(e.body, Message) for c in e.body.calls]
        return list(dict.fromkeys(names))

    def heard(self, said: Entry) -> None:
        """Do what the user asked to be remembered or forgotten, and let the model know."""
        try:
            done = drive(act_at_once(self.notes.inner, [said], self.instructions))
        except (HoldfastError, OSError) as error:
            self._warn(f"nothing was noted: {error}")
            return
        for words in done:
            self._note(words)
        if done:
            self._say(wrap("system-reminder", "\n".join(done)))

    def ended(self) -> None:
        """A turn is over: keep what it leaves for later, beside whatever comes next."""
        engine = self.notes.inner.engine
        if not self._extracts or engine.spawn is None:
            return
        limits = Limits(every=self._chosen.every, cap=self._cap, instructions=self.instructions)
        again, notes = self._session.inner.again(), self.notes.inner

        async def work() -> None:
            if (await again.policy()).memory == "two-stage":
                await self._two_stages(again)
                return
            self._due = True
            while self._due and not self._working:  # a turn that ends meanwhile is next
                self._due, self._working = False, True
                try:
                    made = await notes.extract(again, limits)
                finally:
                    self._working = False
                if made.kept:
                    self._later.append(f"kept {', '.join(made.kept)}")
                if made.waiting:
                    self._later.append(f"{made.waiting} for your approval: /memory review")

        engine.spawn(work)

    async def _two_stages(self, session: AsyncSession) -> None:
        """Count what the reply cites; once in a session, go through those that are finished."""
        from holdfast.engine.knowledge.consolidation import Pipeline, count_citations

        notes = self.notes.inner
        newest = await session.store.log.read(
            session.id, (Span(max(session.info.head - 1, 1), session.info.head),), bare=True
        )
        for entry in newest:
            if isinstance(entry.body, Message) and entry.body.role == "assistant":
                await count_citations(notes, entry.body.text)
        if session.id not in self._went_through:
            self._went_through.add(session.id)
            await Pipeline(session, notes, model=self._chosen.model, cap=self._cap).run()

    def _say(self, text: str) -> None:
        part = Text(text, scaffold="system-reminder")
        self._session.append(Message("user", (part,)))

    def _note(self, words: str) -> None:
        self._tell(AgentEvent(kind="note", words=words))

    def _warn(self, words: str) -> None:
        self._tell(AgentEvent(kind="warning", words=words))


def memory_for(
    session: Session, tell: Callable[[AgentEvent], None], *, headless: bool
) -> AgentMemory | None:
    """The notes of an agent; None where the settings switch them off."""
    chosen = settings().memory
    if not chosen.enabled:
        return None
    extracts = chosen.headless or not headless
    return AgentMemory(session, session.memory(), chosen, extracts=extracts, tell=tell)
