"""`holdfast demo`: a session appended, compacted, undone; with nothing but the public library."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from holdfast.engine.doors import BlockingSession, Holdfast
    from holdfast.model.log import Entry

TITLE = "Login answers 500"

SUMMARY = """\
The login page answered 500: sessions.expires was missing after migration 0042, which had been
applied on one of two databases only. Applied it on the second; /login answers 200 again."""


@click.command()
@common
def demo(asked: Asked) -> None:
    """Show a session being appended, compacted and undone.

    It lives in a temporary store, or in the one that --store names.
    """
    import holdfast

    with (
        tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder,
        holdfast.open(asked.store or Path(folder) / "demo.db") as hf,
    ):
        if asked.json:
            _emit_log(play(hf))
        else:
            _perform(hf, kept=asked.store)


def converse(hf: Holdfast) -> BlockingSession:
    """A small piece of work: what was asked, thought, called, answered and asked next."""
    import holdfast
    from holdfast import Reasoning, ToolCall

    session = hf.session(title=TITLE, model="claude-sonnet-4-6", directory=".")
    session.user("The login page answers 500 since this morning. Find out why and fix it.")
    session.append(
        holdfast.assistant(
            Reasoning("A 500 leaves a traceback. The log of this morning should have it."),
            ToolCall("call_1", "read_log", '{"path": "/var/log/app.log", "last": 60}'),
        )
    )
    session.tool_result("call_1", _log_file(), name="read_log")
    session.append(
        holdfast.assistant(
            "Migration 0042 was applied on one of the two databases only, so sessions.expires is "
            "missing on the other. I applied it there: /login answers 200 again."
        )
    )
    session.user("Good. Now add a test that would have caught it.")
    return session


def compact(session: BlockingSession) -> Entry:
    """Let a summary stand for everything before the last question."""
    from holdfast.model.log import Summary
    from holdfast.model.span import Span

    return session.append(Summary(covers=(Span(1, 4),), text=SUMMARY, trigger="manual"))


def undo(session: BlockingSession, marker: Entry) -> Entry:
    """Take it back: one more entry."""
    from holdfast.model.log import Undo

    return session.append(Undo(marker=marker.seq))


def play(hf: Holdfast) -> BlockingSession:
    """All of it, without a word."""
    session = converse(hf)
    undo(session, compact(session))
    return session


def _log_file() -> str:
    lines = [
        f'08:{14 + n // 6:02d}:{n % 6 * 10:02d} app[{2110 + n % 2}] "POST /login" 500 '
        f'psycopg.errors.UndefinedColumn: column "expires" of relation "sessions" does not exist'
        for n in range(60)
    ]
    return "\n".join(lines)


def _emit_log(session: BlockingSession) -> None:
    from holdfast.cli.show import Look, stepwise
    from holdfast.cli.terminal import emit

    look = Look(session.view())
    for entry, states in stepwise(session.entries()):
        emit(look.as_value(entry, states))


def _perform(hf: Holdfast, kept: str | None) -> None:
    from holdfast.cli.stage import Stage

    stage = Stage()
    stage.title("A session, appended, compacted, undone")

    session = converse(hf)
    stage.step(1, "Five messages are appended. Each is on disk before its call returns.")
    whole = stage.window(session)

    marker = compact(session)
    stage.step(2, f"A Summary is appended as #{marker.seq}: in the window it stands for 1–4.")
    stage.window(session, beside=whole)

    last = undo(session, marker)
    stage.step(3, f"An Undo is appended as #{last.seq}: what was covered is visible again.")
    stage.window(session, beside=whole, rows=False)

    stage.step(4, "The log has only grown. Markers change what is seen, never what was said.")
    stage.log(session)
    stage.ending(kept)
