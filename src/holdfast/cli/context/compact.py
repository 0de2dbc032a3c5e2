"""`holdfast compact`: a compaction planned and shown, edited, agreed to, applied."""

from __future__ import annotations

import sys
from contextlib import closing
from shlex import quote
from typing import TYPE_CHECKING

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.cli.context.plan_view import Shown
    from holdfast.engine.client import Holdfast, Session
    from holdfast.model.log import Entry
    from holdfast.model.plan import Plan


@click.command()
@session_argument
@click.option(
    "--policy",
    metavar="NAME",
    shell_complete=completions.policies,
    default="",
    help="By this policy, this once.",
)
@click.option("--focus", metavar="TEXT", default="", help="What the summary is to dwell on.")
@click.option("--since", metavar="ENTRY", default="", help="Only what was said from here on.")
@click.option("--upto", metavar="ENTRY", default="", help="Only what was said up to here.")
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="For the window of this model.",
)
@click.option("--ask", is_flag=True, help="Have that model, or the session's, write the summary.")
@click.option("--preview", is_flag=True, help="Say what it would do; nothing is changed.")
@click.option("--details", is_flag=True, help="Show all of it: the summary, and every number.")
@click.option("--edit", is_flag=True, help="Edit the summary first, in $VISUAL or $EDITOR.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def compact(
    asked: Asked, session: str, policy: str, focus: str, since: str, upto: str, model: str,
    ask: bool, preview: bool, details: bool, edit: bool, yes: bool,
) -> int:  # fmt: skip
    """Let a summary stand for what was said so far.

    On a terminal it says what would happen and asks. Nothing leaves the log; undo takes it back.
    """
    from holdfast.agent.summariser import Voice

    with closing(Voice()) as voice, asked.open() as hf:
        opened = hf.session(find(hf, session).id, summariser=voice if ask else None)
        refuse_no_model(hf, opened, model)
        plan = opened.plan(focus=focus, since=since, upto=upto, model=model, policy=policy)
        if ask:
            refuse_unwritten(plan)
        if edit and not preview and not _edited(opened, plan):
            return 1
        shown = seen(hf, opened, plan, model=model, focus=focus)
        if not asked.json:
            _tell(shown, details=details)
        if not preview and not yes and not _agreed():
            click.echo("Nothing was changed.", err=True)
            return 1
        marker = None if preview else opened.apply(plan)
        _tell_next(asked, hf, shown, opened.id, marker, details=details)
    return 0


def refuse_no_model(hf: Holdfast, session: Session, model: str) -> None:
    """Say so where nobody knows how large the window is: nothing is compacted on a guess."""
    from holdfast.engine.inspect.explain import UNKNOWN
    from holdfast.engine.inspect.lookup import is_known, meant
    from holdfast.errors import InvalidRequest, NotFound

    chosen = model or session.explain_now().model
    if chosen == UNKNOWN:
        raise InvalidRequest(
            "nobody has said which model this session is for; name one with -m MODEL, "
            "`holdfast models --all` lists them"
        )
    profile = hf.catalogue.profile(chosen)
    if model and not is_known(profile):
        near = meant(hf.catalogue, profile)
        raise NotFound("model", model, near, "`holdfast models --all` lists those that are known.")


def refuse_unwritten(plan: Plan) -> None:
    """Say so where a model was to write the summary and none did."""
    from holdfast.errors import InvalidRequest

    if plan.clears or plan.model:
        return
    why = plan.objections[-1].why if plan.objections else "none was asked"
    raise InvalidRequest(
        f"no model wrote a summary that could be accepted ({why.replace('; ', ': ')}), so nothing "
        "was changed; try again, or leave out --ask to have it made without a model"
    )


def seen(hf: Holdfast, session: Session, plan: Plan, *, model: str = "", focus: str = "") -> Shown:
    """The plan with the numbers that are told about it."""
    from holdfast.cli.context.plan_view import Shown
    from holdfast.engine.bridge import drive
    from holdfast.engine.compaction.focus import written_down
    from holdfast.engine.compaction.forecast import outlook

    now = session.explain_now(model)
    profile = hf.catalogue.profile(now.model)
    return Shown(
        plan=plan,
        outlook=drive(outlook(session.store.log, session.view(), plan, now.lines)),
        window=now.tokens,
        room=now.room,
        holds=now.window,
        priced=profile.price(now.tokens) is not None,
        asked=focus,
        written=written_down(session.info.directory, hf.engine.trust),
    )


def _edited(session: Session, plan: Plan) -> bool:
    """Whether there is a summary to go on with, once somebody edited it."""
    from holdfast.cli.ui.editor import edited
    from holdfast.cli.ui.terminal import say
    from holdfast.engine.bridge import drive
    from holdfast.engine.compaction.plans import reviewed
    from holdfast.errors import InvalidRequest

    if plan.clears:
        raise InvalidRequest(
            f"there is no summary to edit: the {plan.step} of this policy only clears what tools "
            "answered; leave out --edit"
        )
    text = edited(plan.summary)
    if not text:
        say("The summary was emptied, so nothing was changed.", error=True)
        return False
    if text == plan.summary.strip():
        say("The summary was left as it is.", error=True)
        return True
    plan.summary, plan.reason = text, "asked for, and edited by hand"
    drive(reviewed(session.store.log, session.view(), plan))
    return True


def _tell(shown: Shown, *, details: bool) -> None:
    from holdfast.cli.context.plan_view import draw, draw_text, rows, verdict

    if not details:
        draw(verdict(shown))
        return
    draw_text(shown.plan)
    draw(rows(shown, whole=True))


def _agreed() -> bool:
    """Whether to go on: where nobody can be asked, the command itself was the answer."""
    from holdfast.cli.ui.terminal import agreed

    return not sys.stdin.isatty() or agreed("Compact it?")


def _as_given() -> str:
    """The options of this command that decide what is compacted, as they were given."""
    given = click.get_current_context().params
    names = {"policy": "--policy", "focus": "--focus", "since": "--since", "upto": "--upto",
             "model": "-m"}  # fmt: skip
    told = [f"{option} {quote(str(given[key]))}" for key, option in names.items() if given.get(key)]
    return "".join(f" {one}" for one in [*told, *(["--ask"] if given.get("ask") else [])])


def _tell_next(
    asked: Asked, hf: Holdfast, shown: Shown, session: str, marker: Entry | None, *, details: bool
) -> None:
    """What was done: as a value, or in a line with how to take it back."""
    from holdfast.cli.context.compaction_line import line
    from holdfast.cli.context.plan_view import as_value
    from holdfast.cli.sessions.list import shortened
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.model.log import Clear, Summary

    name = shortened(hf, [session])[session]
    if asked.json:
        emit(as_value(shown, session, marker and marker.seq))
    elif marker is None:
        more = "" if details else "; --details shows the summary and every number"
        say(f"Nothing was changed; `holdfast compact {name}{_as_given()}` does it{more}.")
    else:
        assert isinstance(marker.body, Summary | Clear)
        undo, opening = f"`holdfast undo {name}`", f"Compacted, as entry {marker.seq}"
        say(f"{line(marker.body, undo=undo, window=shown.holds, opening=opening)}.")
