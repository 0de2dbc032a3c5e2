"""`holdfast policy`: which policies there are, what one does, and which one a session has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completing
from holdfast.cli.frame import Commands
from holdfast.cli.options import Asked, common, find, session_and

if TYPE_CHECKING:
    from holdfast.model.policy import Policy


class Verbs(Commands):
    """The commands behind `policy`."""

    elsewhere = {"ls": "list", "use": "set", "cat": "show"}  # noqa: RUF012 (it is never changed)


@click.group(cls=Verbs)
def policy() -> None:
    """List policies, show one, or give a session one."""


@policy.command("list")
@common
def listed(asked: Asked) -> None:
    """List the policies that come with Holdfast."""
    from rich.table import Table

    from holdfast.cli.describing_policies import prompts, steps
    from holdfast.cli.terminal import console, emit, fitted, hint, print_table
    from holdfast.engine.plugins import catalogue, policies

    known = [catalogue().policy(name) for name in policies()]
    if asked.json:
        for one in known:
            emit({"name": one.name, "about": one.about, "steps": [name for name, _ in steps(one)],
                  "prompts": list(prompts(one))})  # fmt: skip
        return
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("policy", no_wrap=True, style="cyan")
    made.add_column("what it does", no_wrap=True)
    room = console().width - 18 if console().is_terminal else 10_000
    for one in known:
        made.add_row(one.name, fitted(one.about, max(room, 20)))
    print_table(made)
    hint("See one with  holdfast policy show NAME")


@policy.command()
@click.argument("name", shell_complete=completing.policies)
@common
def show(asked: Asked, name: str) -> None:
    """Say what a policy does, step by step.

    NAME may be the path of a file of your own.
    """
    from holdfast.cli.describing_policies import prompts, rows
    from holdfast.cli.terminal import emit
    from holdfast.cli.values import plain
    from holdfast.engine.plugins import catalogue

    found = catalogue().policy(name)
    if asked.json:
        emit({**plain(found), "prompts": list(prompts(found))})
        return
    _draw(found, rows(found))


def _draw(found: Policy, rows: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.terminal import console, neutral, one_line

    screen = console()
    screen.print(Text.assemble((neutral(found.name), "bold"), f"  {one_line(found.about)}"),
                 soft_wrap=not screen.is_terminal)  # fmt: skip
    card = Table.grid(padding=(0, 2, 0, 0))
    card.add_column(style="cyan", no_wrap=True, min_width=12)
    card.add_column(overflow="fold")
    for title, words in rows:
        if screen.is_terminal:
            card.add_row(title, Text(neutral(words)))
        else:
            screen.print(f"{title:<12}  {one_line(words)}", soft_wrap=True)
    if card.rows:
        screen.print(card)


@policy.command("set")
@session_and("name", shell_complete=completing.policies)
@common
def choose(asked: Asked, session: str, name: str) -> None:
    """Manage a session by another policy from here on."""
    from holdfast.cli.terminal import emit, one_line, say
    from holdfast.errors import Misuse

    chosen = os.path.abspath(name) if name.endswith(".toml") else name
    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        before = opened.info.policy
        if before == chosen:
            raise Misuse(
                f"{opened.id} has the policy {chosen} already; `holdfast policy list` names others"
            )
        marker = opened.set_policy(chosen)
        told: dict[str, Any] = {
            "session": opened.id, "entry": marker.seq, "policy": chosen, "before": before,
        }  # fmt: skip
    if asked.json:
        emit(told)
    else:
        say(one_line(f"{told['session']} is managed by {chosen} from entry {marker.seq} on, no "
                     f"longer by {before}."))  # fmt: skip
