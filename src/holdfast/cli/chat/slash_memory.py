"""`/memory` in the chat: the notes of the project that is worked in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.ui.format import moment
from holdfast.cli.ui.terminal import neutral

if TYPE_CHECKING:
    from holdfast.cli.chat.conversation import Conversation
    from holdfast.engine.knowledge.project import ProjectMemory

USAGE = "/memory, or /memory show|forget|history NAME, add TEXT, review, accept ID, reject ID"


def memory(talk: Conversation, rest: str) -> None:
    """List the notes, or do what is said with one."""
    notes = talk.agent.session.memory()
    verb, _, name = rest.partition(" ")
    name = name.strip()
    if not rest:
        _list(talk, notes)
    elif verb == "review":
        _review(talk, notes)
    elif verb in _ACTS and name:
        _ACTS[verb](talk, notes, name)
    else:
        talk.screen.say(USAGE, "dim")


def _list(talk: Conversation, notes: ProjectMemory) -> None:
    found = notes.notes()
    for one in found.values():
        talk.screen.say(f"{one.file}  {neutral(one.note.description)}")
    if not found:
        talk.screen.say("there are no notes yet; say “remember …”, or /memory add TEXT")
    if waiting := len(notes.inbox()):
        talk.screen.say(f"{waiting} for your approval: /memory review", "yellow")
    if talk.agent.memory is None:
        talk.screen.say("notes are switched off here, by a setting or HOLDFAST_MEMORY", "dim")


def _review(talk: Conversation, notes: ProjectMemory) -> None:
    waiting = notes.inbox()
    for one in waiting:
        talk.screen.say(f"{one.id[:8]} · {one.file} · trust {one.trust}", "bold")
        talk.screen.say(neutral(one.text.strip() or "(take it away)"))
        talk.screen.say(neutral(one.reason), "dim")
    told = "/memory accept ID keeps one, /memory reject ID refuses it"
    talk.screen.say(told if waiting else "nothing waits for approval", "dim")


def _show(talk: Conversation, notes: ProjectMemory, name: str) -> None:
    one = notes.note(name)
    talk.screen.console.print(neutral(one.text), markup=False, highlight=False)
    talk.screen.say(f"trust {one.record.trust} · kept by {one.record.cause}", "dim")


def _add(talk: Conversation, notes: ProjectMemory, text: str) -> None:
    talk.screen.say(f"kept in {notes.add(text, type='feedback').file}")


def _forget(talk: Conversation, notes: ProjectMemory, name: str) -> None:
    talk.screen.say(f"{notes.forget(name).file} is taken away")


def _history(talk: Conversation, notes: ProjectMemory, name: str) -> None:
    for one in notes.history(name):
        talk.screen.say(f"{one.id} · {moment(one.created)} · by {one.cause}")


def _accept(talk: Conversation, notes: ProjectMemory, id: str) -> None:
    made = notes.accept(id)
    talk.screen.say(f"kept in {made.file}" if made else "done")


def _reject(talk: Conversation, notes: ProjectMemory, id: str) -> None:
    talk.screen.say(f"refused: {notes.reject(id).file}")


_ACTS = {
    "show": _show, "add": _add, "forget": _forget, "history": _history, "accept": _accept,
    "reject": _reject,
}  # fmt: skip
