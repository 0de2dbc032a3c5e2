"""`holdfast memory learn`: notes from sessions that are there already, such as imported ones."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from holdfast.engine.knowledge.learning import Learning


@click.command()
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="Who reads the sessions; without it rules do, and nothing is spent.",
)
@click.option("--all", "everywhere", is_flag=True, help="Sessions of every project.")
@click.option("--project", metavar="DIR", default="", help="The project.")
@click.option(
    "--keep",
    is_flag=True,
    help="Keep your own words at once; otherwise all waits for `memory review`.",
)
@click.option(
    "--cap",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="What one session may cost, in US dollars.",
)
@click.option("--yes", is_flag=True, help="Begin without asking.")
@common
def learn(
    asked: Asked, model: str, everywhere: bool, project: str, keep: bool, cap: float, yes: bool
) -> None:
    """Learn from sessions that are there already; first it says what that costs.

    What was learned from once is not read again, so that it can be interrupted.
    """
    from holdfast.engine.bridge import drive
    from holdfast.engine.knowledge.learning import Learning
    from holdfast.files import project_root

    with asked.open() as hf:
        where = None if everywhere else str(project_root(project or "."))
        learning = Learning(hf.engine, where)
        if not model:
            _tell_proposed(asked, drive(learning.by_rules()))
            return
        if _agreed(asked, learning, model, yes=yes):
            _learn(asked, learning, model, int(cap * 1_000_000_000), keep=keep)


def _agreed(asked: Asked, learning: Learning, model: str, *, yes: bool) -> bool:
    """Say what it would cost, and ask whether to begin."""
    from holdfast.cli.ui.format import many, money
    from holdfast.cli.ui.terminal import agreed, say
    from holdfast.engine.bridge import drive
    from holdfast.errors import InvalidRequest

    found = drive(learning.estimate(model))
    if not found.sessions:
        say("There is nothing new to learn from.", error=asked.json)
        return False
    cost = money(found.cost) if found.cost is not None else "an unknown price"
    say(
        f"{many(found.sessions, 'session')}, {many(found.entries, 'entry', 'entries')}: about "
        f"{found.tokens:,} tokens in {many(found.calls, 'call')} of {model}, at most {cost}.",
        error=asked.json,
    )
    if not yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidRequest("nobody is there to agree to that; say --yes")
    return yes or agreed("begin?")


def _learn(asked: Asked, learning: Learning, model: str, cap: int, *, keep: bool) -> None:
    from holdfast.agent.summariser import Voice
    from holdfast.cli.ui.terminal import emit, hint, say
    from holdfast.engine.bridge import drive_all

    kept = waiting = 0
    with closing(Voice()) as voice:
        learned = drive_all(learning.run(model, voice, cap=cap, keep=keep))
        for number, one in enumerate(learned, 1):
            kept, waiting = kept + one.kept, waiting + one.waiting
            if asked.json:
                emit({"session": one.session.id, "kept": one.kept, "waiting": one.waiting,
                      "error": one.error})  # fmt: skip
            elif one.kept or one.waiting or one.error:
                told = one.error or f"{one.kept} kept, {one.waiting} for your approval"
                say(f"{number} · {one.session.id} · {told}", "yellow" if one.error else "")
    if not asked.json:
        say(f"{kept} kept, {waiting} for your approval.")
        if waiting:
            hint("holdfast memory review  approves them")


def _tell_proposed(asked: Asked, proposed: list[str]) -> None:
    from holdfast.cli.ui.terminal import emit, hint, neutral, say

    if asked.json:
        for text in proposed:
            emit({"text": text})
        return
    for text in proposed:
        say(f"- {neutral(text)}")
    say(f"{len(proposed)} recurring wishes are proposed." if proposed else "Nothing recurs.")
    if proposed:
        hint("holdfast memory review  approves them")
