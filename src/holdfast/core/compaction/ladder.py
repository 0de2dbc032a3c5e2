"""The ladder: which step is next, from the cheapest to the dearest, as a policy has them.

Rule 1: a step that was taken is not taken again for the same window, so that it always ends.
Rule 2: before the window is full a policy acts only if it is proactive; when it is full, only if it
        acts in an emergency. What is asked for by hand always happens.
Rule 3: shedding is no step of it: it follows where all these were not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from holdfast.core.compaction.clear import microcompact, prune, thinking
from holdfast.core.compaction.notes import notes
from holdfast.core.compaction.provider_edits import theirs
from holdfast.core.compaction.situation import Situation
from holdfast.core.compaction.summarise import compact, summarise
from holdfast.model.plan import Plan
from holdfast.model.policy import Step

Planner = Callable[[Situation], Plan | None]

STEPS: dict[Step, Planner] = {
    "thinking": thinking,
    "microcompact": microcompact,
    "prune": prune,
    "notes": notes,
    "summarise": summarise,
    "compact": compact,
}

TELLING: tuple[Step, ...] = ("notes", "summarise", "compact")
"""The steps that make a summary: one of them is enough for one window."""


def next_plan(now: Situation, taken: Collection[Step] = ()) -> Plan | None:
    """The next step to take; None where nothing is due, or nothing helps any more."""
    if not _may_act(now):
        return None
    told = any(step in taken for step in TELLING)
    server = now.policy.strategy == "server" and not (now.over or now.forced)
    for step, planner in STEPS.items():
        if step == "notes" and now.notes is None:
            continue
        if step in taken or (told and step in TELLING and not now.over):
            continue
        if server and theirs(now.policy, now.profile, step, now.view.folded):
            continue
        if plan := planner(now):
            return plan
    return None


def first_telling(now: Situation, *, noted: bool = False) -> Plan | None:
    """The summary that somebody asks for by hand: the dearest step of a policy that has one.

    With `noted`, running notes are used first, as when a window is full.
    """
    written = (notes,) if noted else ()
    for planner in (*written, compact, summarise) if now.policy.compact else (*written, summarise):
        if plan := planner(now):
            return plan
    return None


def _may_act(now: Situation) -> bool:
    if now.trigger == "manual":
        return True
    if now.policy.strategy == "off":
        return False
    return now.policy.emergency if now.over else now.policy.proactive
