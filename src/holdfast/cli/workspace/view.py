"""What a rewind would do and what became of files, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from holdfast.cli.ui.format import clock, date, many
from holdfast.cli.ui.terminal import fitted, neutral, one_line
from holdfast.model.workspace import FileDiff, FileState, ForeignSnapshot, Prompt, RestorePlan, Step

NAMED: Final = 5
"""So many files of a patch are named."""

Row = tuple[str, str]
"""A line and its style."""

STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}

SHOWN: Final = 400
"""So many lines of diffs are shown in a chat."""


LINES: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def name_of(path: str) -> str:
    """A path in one line, whatever is in its name."""
    return neutral(path.translate(LINES))


def prompt_row(number: int, prompt: Prompt, width: int) -> str:
    """A prompt by its number: when, its first line, and what it did to files."""
    done = f"{many(prompt.files, 'file')} +{prompt.added} -{prompt.removed}" if prompt.files else ""
    done = done or _theirs(prompt.foreign)
    when = f"{date(prompt.created)} {clock(prompt.created)}"
    lead = f"{number:>3}  {when}  {done:<20}  "
    return f"{lead}{fitted(one_line(prompt.text), max(width - len(lead) - 1, 20))}"


def _theirs(found: Sequence[ForeignSnapshot]) -> str:
    """What another program recorded meanwhile, in at most 20 columns."""
    if not found:
        return ""
    files = {path for one in found for path in one.files}
    return (
        f"{many(len(files), 'file')} ({found[0].agent})" if files else f"{found[0].agent} snapshot"
    )


def foreign_rows(found: Sequence[ForeignSnapshot]) -> Iterator[Row]:
    """What another program recorded of files, and why it cannot be put back; none where nothing."""
    for one in found:
        yield (
            f"  #{one.at}  {one.agent} {one.kind} {fitted(one_line(one.hash), 40)}{_about(one)}",
            "",
        )
    if found:
        yield foreign_note(found), "yellow"


def foreign_note(found: Sequence[ForeignSnapshot]) -> str:
    """Why nothing of it can be put back from here."""
    agent = found[0].agent
    times = many(len(found), "time")
    return (
        f"{agent} recorded files {times}. Holdfast cannot restore those: what they held is only in "
        f"git objects of {agent}'s own."
    )


def _about(one: ForeignSnapshot) -> str:
    if one.files:
        more = f" and {len(one.files) - NAMED} more" if len(one.files) > NAMED else ""
        return f": {', '.join(one_line(path) for path in one.files[:NAMED])}{more}"
    apart = len(one.untracked) + len(one.untracked_directories)
    return f", without {many(apart, 'untracked path')}" if apart else ""


def plan_rows(plan: RestorePlan) -> Iterator[Row]:
    """What putting files back would do, a line for each path."""
    theirs = {one.path: one.why for one in plan.conflicts}
    for step in plan.steps:
        why = theirs.get(step.path)
        yield (
            f"  {_what(step)} {name_of(step.path)}{f': {why}' if why else ''}",
            ("yellow" if why else ""),
        )
    for one in plan.uncovered:
        yield f"  stays      {name_of(one.path)}: {one.why}", "yellow"


def _what(step: Step) -> str:
    if step.want.kind == "absent":
        return "remove    "
    if step.have.kind == "absent":
        return "bring back"
    same = (step.have.kind, step.have.hash) == (step.want.kind, step.want.hash)
    return "set mode  " if same else "change    "


def plan_in_words(plan: RestorePlan) -> str:
    """The same in a sentence."""
    if plan.empty:
        return "no file would change"
    facts = [f"{many(len(plan.steps), 'path')} would be put back"]
    if plan.conflicts:
        facts.append(f"{len(plan.conflicts)} changed by somebody else")
    if plan.uncovered:
        facts.append(f"{len(plan.uncovered)} cannot be put back")
    return ", ".join(facts)


def diff_rows(diffs: Sequence[FileDiff]) -> Iterator[Row]:
    """What became of files, in the colours of a diff."""
    for one in diffs:
        yield f"{name_of(one.path)}  {_became(one)}", "bold"
        for line in one.diff.splitlines():
            if not line.startswith(("--- ", "+++ ")):
                yield neutral(line), STYLES.get(line[:1], "")


def _became(one: FileDiff) -> str:
    if one.renamed:
        return f"moved from {name_of(one.renamed)}"
    what = "changed"
    if one.before.kind == "absent":
        what = f"new {_kind(one.after)}"
    elif one.after.kind == "absent":
        what = "removed"
    elif one.before.mode != one.after.mode and one.before.hash == one.after.hash:
        what = f"mode {one.before.mode:o} → {one.after.mode:o}"
    lines = f" +{one.added} -{one.removed}" if one.added or one.removed else ""
    return f"{what}{lines}{f' ({one.note})' if one.note else ''}"


def _kind(state: FileState) -> str:
    return "link" if state.kind == "symlink" else "file"


def totals(diffs: Sequence[FileDiff]) -> str:
    """How much changed, in a sentence."""
    added, removed = sum(one.added for one in diffs), sum(one.removed for one in diffs)
    return f"{many(len(diffs), 'file')}, +{added} -{removed} lines"
