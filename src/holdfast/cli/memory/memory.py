"""`holdfast memory`: see, change, approve and take back what outlives a session."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.app import Commands
from holdfast.cli.memory.learn import learn
from holdfast.cli.memory.transfer import export_command, import_command
from holdfast.cli.options import Asked, common, find_with_entry

if TYPE_CHECKING:
    from holdfast.engine.knowledge.notes import Kept
    from holdfast.engine.knowledge.project import ProjectMemory
    from holdfast.model.note import NoteRecord


class Verbs(Commands):
    """The commands behind `memory`."""

    elsewhere = {  # noqa: RUF012 (it is never changed)
        "ls": "list", "cat": "show", "remember": "add", "rm": "forget", "remove": "forget",
        "delete": "forget", "inbox": "review", "approve": "review", "log": "history",
        "undo": "revert",
    }  # fmt: skip


@click.group(cls=Verbs)
def memory() -> None:
    """See, change, approve and take back notes that outlive a session."""


def of_project(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --project and --key, and hand it the notes that they name."""

    @click.option("--project", metavar="DIR", default="",
                  help="The project; without it the one of this directory.")  # fmt: skip
    @click.option("--key", metavar="KEY", default="",
                  help="Notes of a program without files, by its key.")  # fmt: skip
    @common
    @wraps(function)
    def command(asked: Asked, project: str, key: str, **rest: Any) -> Any:
        with asked.open(make=True) as hf:
            return function(asked, hf.memory(project, key=key), **rest)

    return command


@memory.command("list")
@of_project
def listed(asked: Asked, notes: ProjectMemory) -> None:
    """List the notes: type, file, use, what each says."""
    from rich.table import Table

    from holdfast.cli.ui.terminal import console, emit, fitted, hint, print_table, say

    found = notes.notes()
    if asked.json:
        for one in found.values():
            emit(as_value(one))
        return
    if not found:
        say("There are no notes yet; `holdfast memory add TEXT` keeps one.")
    else:
        made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        for name, style in (("type", "cyan"), ("file", ""), ("used", "dim"), ("says", "")):
            made.add_column(name, no_wrap=True, style=style)
        room = console().width - 60 if console().is_terminal else 10_000
        for one in sorted(found.values(), key=lambda one: (one.note.type, one.file)):
            uses = f"{one.record.uses}×" if one.record.uses else "–"
            about = fitted(one.note.description, max(room, 20))
            made.add_row(one.note.type, one.file, uses, about)
        print_table(made)
    for file, why in notes.problems.items():
        say(f"{file} is left out: {why}", "yellow")
    if waiting := len(notes.inbox()):
        hint(f"{waiting} for your approval:  holdfast memory review")


@memory.command()
@click.argument("name")
@of_project
def show(asked: Asked, notes: ProjectMemory, name: str) -> None:
    """Show a note, where it comes from and how it was used."""
    from holdfast.cli.ui.format import moment
    from holdfast.cli.ui.terminal import emit, neutral, say, write_line

    one = notes.note(name)
    if asked.json:
        emit({**as_value(one), "text": one.text})
        return
    write_line(neutral(one.text.rstrip()))
    record = one.record
    say(f"trust {record.trust} · kept by {record.cause} · {moment(record.created)}", "dim")
    if record.uses:
        say(f"shown {record.uses} times, last {moment(record.used)}", "dim")
    for evidence in record.evidence:
        say(f"from {evidence.session} #{evidence.seq}", "dim")
    for file, how in notes.similar(one.note.body, but=one.file):
        say(f"{how} {file}", "yellow")


@memory.command()
@click.argument("text")
@click.option("--type", "kind", type=click.Choice(["user", "feedback", "project", "reference"]),
              default="project", help="What kind of note it is.")  # fmt: skip
@click.option("--name", default="", help="A short name; the file is named after it.")
@click.option("--about", default="", help="One line by which its relevance is judged.")
@of_project
def add(asked: Asked, notes: ProjectMemory, text: str, kind: str, name: str, about: str) -> None:
    """Keep a note of your own."""
    from holdfast.cli.ui.terminal import emit, say

    like = notes.similar(text)
    made = notes.add(text, type=kind, name=name, description=about)
    if asked.json:
        emit(as_value(made))
        return
    say(f"Kept in {made.file}.")
    for file, how in like:
        say(f"It {how} {file}; `holdfast memory forget {file}` takes that one away.", "yellow")


@memory.command()
@click.argument("name")
@click.option("--text", default="", help="The new text; without it your editor opens.")
@of_project
def edit(asked: Asked, notes: ProjectMemory, name: str, text: str) -> None:
    """Change a note."""
    from holdfast.cli.ui.editor import edited
    from holdfast.cli.ui.terminal import emit, say

    before = notes.note(name)
    made = notes.edit(name, text or edited(before.text))
    if asked.json:
        emit(as_value(made))
    else:
        say(f"{made.file} is changed." if made.text != before.text else "Nothing was changed.")


@memory.command()
@click.argument("name")
@of_project
def forget(asked: Asked, notes: ProjectMemory, name: str) -> None:
    """Take a note away; its versions stay, so that it can be brought back."""
    from holdfast.cli.ui.terminal import emit, hint, say

    gone = notes.forget(name)
    if asked.json:
        emit(as_value(gone))
        return
    say(f"{gone.file} is taken away.")
    hint(f"holdfast memory revert {notes.history(gone.file)[-1].id}  brings it back")


@memory.command()
@click.option("--accept", metavar="ID", multiple=True, help="Approve this one.")
@click.option("--reject", metavar="ID", multiple=True, help="Refuse this one for good.")
@of_project
def review(
    asked: Asked, notes: ProjectMemory, accept: tuple[str, ...], reject: tuple[str, ...]
) -> None:
    """Approve or refuse what waits: what was learned from anything but your own words."""
    from holdfast.cli.ui.terminal import emit, say

    for id in accept:
        made = notes.accept(id)
        say(f"Kept in {made.file}." if made else "Done.", error=asked.json)
    for id in reject:
        say(f"Refused: {notes.reject(id).file}.", error=asked.json)
    waiting = notes.inbox()
    if asked.json:
        for one in waiting:
            emit(waiting_value(one))
    elif accept or reject:
        return
    elif not waiting:
        say("Nothing waits for approval.")
    else:
        _asks(notes, waiting) if sys.stdin.isatty() and sys.stdout.isatty() else _lists(waiting)


def _lists(waiting: tuple[NoteRecord, ...]) -> None:
    from holdfast.cli.ui.terminal import hint, neutral, say

    for one in waiting:
        say(f"{one.id[:8]} · {one.file} · trust {one.trust} · {one.cause}", "bold")
        say(neutral(one.text.strip() or "(take it away)"))
        say(one.reason, "dim")
    hint("holdfast memory review --accept ID  approves one, --reject ID refuses it")


def _asks(notes: ProjectMemory, waiting: tuple[NoteRecord, ...]) -> None:
    from holdfast.cli.ui.answers import exact
    from holdfast.cli.ui.terminal import neutral, say

    answers = {"y": "y", "yes": "y", "n": "n", "no": "n", "": "later"}
    for one in waiting:
        say(f"{one.file} · trust {one.trust} · {one.cause}", "bold")
        say(neutral(one.text.strip() or "(take it away)"))
        say(one.reason, "dim")
        while (answer := exact(input("keep it? [y/n, Enter: later] "), answers)) is None:
            say("type y or n, or only Enter", "yellow")
        if answer == "y":
            made = notes.accept(one.id)
            say(f"Kept in {made.file}." if made else "Done.")
        elif answer == "n":
            notes.reject(one.id)


@memory.command()
@click.argument("name", default="")
@of_project
def history(asked: Asked, notes: ProjectMemory, name: str) -> None:
    """List every change of the notes, or of one."""
    from holdfast.cli.ui.format import moment
    from holdfast.cli.ui.terminal import emit, say

    for one in notes.history(name):
        if asked.json:
            emit({"id": one.id, "at": one.created, "file": one.file, "cause": one.cause,
                  "before": one.before, "text": one.text})  # fmt: skip
            continue
        what = "removed" if not one.text else "changed" if one.before else "made"
        say(f"{one.id} · {moment(one.created)} · {one.file} {what} by {one.cause}")


@memory.command()
@click.argument("change")
@of_project
def revert(asked: Asked, notes: ProjectMemory, change: str) -> None:
    """Give a note the text that it had before a change."""
    from holdfast.cli.ui.terminal import emit, say

    now = notes.revert(change)
    if asked.json:
        emit(as_value(now) if now else {"file": None})
    else:
        say(f"{now.file} is as it was." if now else "The note is taken away, as before.")


@memory.command()
@click.argument("query")
@of_project
def recall(asked: Asked, notes: ProjectMemory, query: str) -> None:
    """Show the notes that would be recalled for a question."""
    from holdfast.cli.ui.terminal import emit, neutral, say

    found = notes.recall(query)
    for one in found:
        if asked.json:
            emit({"file": one.file, "name": one.note.name, "body": one.note.body})
        else:
            say(one.file, "bold")
            say(neutral(one.note.body.strip()))
    if not found and not asked.json:
        say("No note is certain to help.")


@memory.command()
@click.argument("note", default="")
@click.option("--reply", nargs=2, metavar="SESSION ENTRY", default=None,
              help="Say which notes stood before this reply.")  # fmt: skip
@click.option("--project", metavar="DIR", default="", help="The project.")
@common
def influence(asked: Asked, note: str, reply: tuple[str, str] | None, project: str) -> None:
    """Say what a note influenced, or which notes influenced a reply; both from the log."""
    from holdfast.cli.ui.terminal import emit, neutral, say
    from holdfast.engine.bridge import drive
    from holdfast.engine.knowledge.influence import notes_before, replies_after
    from holdfast.errors import InvalidRequest

    if bool(note) == bool(reply):
        raise InvalidRequest("name one of the two; give NOTE, or --reply SESSION ENTRY")
    with asked.open(make=True) as hf:
        if reply:
            session, entry = find_with_entry(hf, *reply)
            found = drive(notes_before(hf.session(session.id).inner, entry))
        else:
            file = note if note.endswith(".md") else f"{note}.md"
            scope = hf.memory(project).inner.scope
            found = drive(replies_after(hf.engine, scope, file))
    for one in found:
        if asked.json:
            emit({"file": one.file, "note": one.id, "session": one.session, "shown": one.shown,
                  "reply": one.reply, "said": one.said})  # fmt: skip
        else:
            say(f"{one.session} #{one.reply} · {one.file} shown at #{one.shown}", "bold")
            say(neutral(one.said))
    if not found and not asked.json:
        say("No note was shown before it." if reply else "It was never shown to a model.")


def as_value(one: Kept) -> dict[str, Any]:
    """A note as JSON: every key, always."""
    record = one.record
    return {
        "file": one.file, "name": one.note.name, "type": one.note.type,
        "description": one.note.description, "modified": one.modified, "trust": record.trust,
        "cause": record.cause, "created": record.created, "uses": record.uses,
        "used": record.used or None,
        "evidence": [{"session": e.session, "entry": e.entry, "seq": e.seq}
                     for e in record.evidence],
    }  # fmt: skip


def waiting_value(one: NoteRecord) -> dict[str, Any]:
    """What waits for approval as JSON."""
    return {
        "id": one.id, "file": one.file, "text": one.text, "trust": one.trust,
        "cause": one.cause, "reason": one.reason, "created": one.created,
    }  # fmt: skip


memory.add_command(export_command)
memory.add_command(import_command)
memory.add_command(learn)
