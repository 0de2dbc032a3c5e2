"""`holdfast rewind`: go back to before something was said, files and conversation, or either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.engine.client import Session
    from holdfast.model.workspace import Prompt, RestorePlan


@click.command()
@session_argument
@click.argument("prompt", default="")
@click.option(
    "--restore",
    type=click.Choice(["both", "code", "conversation"]),
    default="both",
    help="What goes back: files and conversation, or one of them.",
)
@click.option("--keep", multiple=True, metavar="PATH", help="Keep what others made of a file.")
@click.option("--overwrite", multiple=True, metavar="PATH", help="Put it back all the same.")
@click.option("--preview", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def rewind(
    asked: Asked,
    session: str,
    prompt: str,
    restore: str,
    keep: tuple[str, ...],
    overwrite: tuple[str, ...],
    preview: bool,
    yes: bool,
) -> int:
    """Go back to before PROMPT, a number of the list that is shown without one.

    Files that somebody else changed since stop it: name each with --keep or --overwrite, or all of
    them with `*`. `holdfast undo` takes a rewind back, files included.
    """
    from holdfast.cli.ui.terminal import agreed, emit, say

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        if not prompt:
            return _list(opened, as_json=asked.json)
        chosen = choose(opened.prompts(), prompt)
        files = restore != "conversation"  # the directory may be gone
        plan = opened.preview_rewind(chosen.to) if files else None
        if preview or not asked.json:
            _show(opened, chosen, plan, as_json=asked.json)
        if preview:
            return 0
        if not yes and not agreed("Go back?"):
            say("Nothing was changed.", error=True)
            return 1
        resolve = {**dict.fromkeys(keep, "keep"), **dict.fromkeys(overwrite, "restore")}
        made = opened.rewind(chosen.to, restore=restore, resolve=resolve)
        if asked.json:
            emit({"session": opened.id, "entry": made.seq, "to": chosen.to, "restore": restore})
        else:
            say(f"Gone back to before “{_words(chosen)}”, as entry {made.seq}.")
            say(f"`holdfast undo {opened.id} {made.seq}` takes it back.")
    return 0


def choose(prompts: tuple[Prompt, ...], named: str) -> Prompt:
    """The prompt of a number in the list, or of an entry's number behind #."""
    from holdfast.errors import NotFound

    if named.startswith("#") and named[1:].isdecimal():
        found = [one for one in prompts if one.seq == int(named[1:])]
        if found:
            return found[0]
    elif named.isdecimal() and 1 <= int(named) <= len(prompts):
        return prompts[int(named) - 1]
    raise NotFound("prompt", named, (), "`holdfast rewind` lists them.")


def _list(session: Session, *, as_json: bool) -> int:
    from holdfast.cli.ui.json_values import plain
    from holdfast.cli.ui.terminal import ENDLESS, console, emit, hint, say
    from holdfast.cli.workspace.view import foreign_note, prompt_row

    screen = console()
    prompts = session.prompts()
    for number, one in enumerate(prompts, 1):
        if as_json:
            told: dict[str, Any] = {
                name: plain(getattr(one, name)) for name in one.__struct_fields__
            }
            emit({"number": number, **told})
        else:
            say(prompt_row(number, one, screen.width if screen.is_terminal else ENDLESS))
    theirs = [found for one in prompts for found in one.foreign]
    if theirs and not as_json:
        say(foreign_note(theirs))
    if not as_json:
        hint(f"holdfast rewind {session.id} NUMBER  goes back to before one")
    return 0


def _show(session: Session, chosen: Prompt, plan: RestorePlan | None, *, as_json: bool) -> None:
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.cli.workspace.view import diff_rows, plan_in_words, plan_rows

    if as_json:
        emit({
            "to": chosen.to,
            "paths": [step.path for step in plan.steps] if plan else [],
            "conflicts": {one.path: one.why for one in plan.conflicts} if plan else {},
            "uncovered": {one.path: one.why for one in plan.uncovered} if plan else {},
        })  # fmt: skip
        return
    what = plan_in_words(plan) if plan else "files stay as they are"
    say(f"Before “{_words(chosen)}” (#{chosen.seq}): {what}.")
    if plan is None:
        return
    for line, style in plan_rows(plan):
        say(line, style)
    for line, style in diff_rows(session.diff(chosen.seq)):
        say(line, style)


def _words(prompt: Prompt) -> str:
    from holdfast.cli.ui.terminal import fitted

    return fitted(prompt.text, 60)
