"""`/rewind`, `/diff` and `/checkpoints`: what was done to the files, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from holdfast.cli.ui.format import ago, many, size
from holdfast.cli.ui.terminal import fitted
from holdfast.cli.workspace.rewind import choose
from holdfast.cli.workspace.view import (
    SHOWN,
    diff_rows,
    foreign_note,
    foreign_rows,
    name_of,
    plan_in_words,
    plan_rows,
    prompt_row,
    totals,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.cli.chat.conversation import Conversation
    from holdfast.cli.workspace.view import Row
    from holdfast.model.workspace import Prompt, RestorePlan

MOST: Final = 15
"""So many prompts are listed; the others have numbers as well."""

ACTIONS: Final = {
    "1": "both",
    "2": "conversation",
    "3": "code",
    "4": "summarise from here",
    "5": "summarise up to here",
    "q": "",
}

CHOICES: Final = (
    "  1 code and conversation · 2 conversation · 3 code",
    "  4 summarise from here · 5 summarise up to here · q nothing",
)


def rewind(talk: Conversation, rest: str) -> None:
    """Go back to before something was said: choose it, see what would be done, choose what."""
    prompts = talk.agent.session.prompts()
    if not prompts:
        talk.screen.say("nothing was said yet, so there is nothing to go back to")
        return
    named, _, focus = rest.partition(" ")
    chosen = choose(prompts, named) if named else _chosen(talk, prompts)
    if chosen is None:
        return
    plan = talk.agent.session.preview_rewind(chosen.to)
    _show(talk, chosen, plan)
    action = talk.screen.asked("  which, then Enter ", ACTIONS, "")
    if not action:
        talk.screen.say("nothing was changed")
    elif action.startswith("summarise"):
        _summarise(talk, chosen, action, focus)
    else:
        _go_back(talk, chosen, plan, action)


def _chosen(talk: Conversation, prompts: tuple[Prompt, ...]) -> Prompt | None:
    width = talk.screen.console.width
    numbered = list(enumerate(prompts, 1))
    for number, one in numbered[-MOST:]:
        talk.screen.say(prompt_row(number, one, width))
    if len(prompts) > MOST:
        talk.screen.say(f"  and {len(prompts) - MOST} before them", "dim")
    if theirs := [found for one in prompts for found in one.foreign]:
        talk.screen.say(foreign_note(theirs), "dim")
    answers = {str(number): number for number, _ in numbered}
    number = talk.screen.asked(
        "  back to before which? its number, or q, then Enter ", {**answers, "q": 0}, 0
    )
    return prompts[number - 1] if number else None


def _show(talk: Conversation, chosen: Prompt, plan: RestorePlan) -> None:
    session = talk.agent.session
    _say(talk, diff_rows(session.diff(chosen.seq)))
    talk.screen.say(f"before “{fitted(chosen.text, 50)}”: {plan_in_words(plan)}", "bold")
    _say(talk, plan_rows(plan))
    for line in CHOICES:
        talk.screen.say(line)


def _say(talk: Conversation, rows: Iterable[Row]) -> None:
    found = list(rows)
    for line, style in found[:SHOWN]:
        talk.screen.say(line, style)
    if len(found) > SHOWN:
        left = len(found) - SHOWN
        talk.screen.say(f"  [… {left:,} more lines; `holdfast diff` shows all]", "yellow")


def _go_back(talk: Conversation, chosen: Prompt, plan: RestorePlan, action: str) -> None:
    resolve = _resolved(talk, plan) if action != "conversation" else {}
    if resolve is None:
        talk.screen.say("nothing was changed")
        return
    made = talk.agent.session.rewind(chosen.to, restore=action, resolve=resolve)
    if action != "code":
        talk.typed_again = chosen.text
    what = {"both": "files and conversation are", "code": "the files are"}.get(
        action, "the conversation is"
    )
    talk.screen.say(f"{what} as before it; /undo #{made.seq} takes that back", "green")


def _resolved(talk: Conversation, plan: RestorePlan) -> Mapping[str, str] | None:
    """What becomes of each file that somebody else changed; None where all is to stay."""
    chosen: dict[str, str] = {}
    for one in plan.conflicts:
        talk.screen.say(f"  {name_of(one.path)} {one.why}", "yellow")
        told = talk.screen.asked(
            "  k = keep it so / r = put it back / q = stop, then Enter ",
            {"k": "keep", "r": "restore", "q": ""},
            "",
        )
        if not told:
            return None
        chosen[one.path] = told
    return chosen


def _summarise(talk: Conversation, chosen: Prompt, action: str, focus: str) -> None:
    from holdfast.cli.chat.screen import compaction

    session = talk.agent.session
    talk.screen.busy("summarising…")
    try:
        if action == ACTIONS["4"]:
            plan = session.plan(focus=focus, since=chosen.seq)
        else:
            plan = session.plan(focus=focus, upto=chosen.to)
        marker = session.apply(plan)
    finally:
        talk.screen.rest()
    talk.screen.say(compaction(marker))


def diff(talk: Conversation, rest: str) -> None:
    """What the agent did to the files; of one prompt by its number."""
    session = talk.agent.session
    if rest:
        seq = choose(session.prompts(), rest).seq
        found = session.diff(seq, seq)
    else:
        found = session.diff()
    _say(talk, diff_rows(found))
    talk.screen.say(totals(found) if found else "no file was changed, as far as is known", "bold")


def checkpoints(talk: Conversation, rest: str) -> None:
    """How much is kept of the files, and what is not covered."""
    kept = talk.hf.checkpoints(talk.agent.session.id)
    oldest = f", the oldest {ago(kept.oldest)}" if kept.oldest else ""
    talk.screen.say(
        f"{many(kept.changes, 'change')} of files, {size(kept.bytes)} of what they held{oldest}"
    )
    _say(talk, foreign_rows(talk.agent.session.foreign_snapshots()))
    if talk.agent.toolbox.workspace is None:
        return
    covered = talk.agent.toolbox.workspace.prepare()
    whole = "" if covered.whole else "; there was no time for the others"
    talk.screen.say(
        f"{many(covered.files, 'file')} covered before a command runs, {covered.in_git:,} of them "
        f"by git's objects{whole}"
    )
    for one in covered.uncovered[:MOST]:
        talk.screen.say(f"  not covered: {name_of(one.path)} {one.why}", "yellow")
    if len(covered.uncovered) > MOST:
        talk.screen.say(f"  and {len(covered.uncovered) - MOST} more", "yellow")
