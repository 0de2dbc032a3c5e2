"""A policy as it is for a conversation that goes elsewhere: whatever fits goes along.

Rule 1: nothing leaves because it pays, or because time has passed: only because it does not fit.
Rule 2: what does not fit is the oldest; as much stays word for word as there is room for.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.model.policy import Policy, Prune, Summarise, Tail

USERS = 0.1
"""The share of the room that is held free for earlier messages of the user's beside a summary."""

WITHOUT_END = 1 << 40


def sparing(policy: Policy) -> Policy:
    """The same policy, which takes nothing out of a window that is not too full."""
    return replace(
        policy,
        proactive=False,
        awareness=None,
        notes=None,
        microcompact=None,
        prune=_prune(policy.prune),
        summarise=_longer(policy.summarise),
        compact=_longer(policy.compact),
    )


def _prune(rule: Prune | None) -> Prune | None:
    """As many results stay as a policy may protect at all."""
    return replace(rule, protect=WITHOUT_END) if rule else None


def _longer(rule: Summarise | None) -> Summarise | None:
    """The tail takes all that a summary leaves; what it holds need not be kept beside that."""
    if rule is None:
        return None
    tail = Tail(share=1.0, after=rule.tail.after, begins=rule.tail.begins, turn=rule.tail.turn)
    shares = min(rule.users_share, USERS)
    return replace(rule, tail=tail, of="room", users_share=shares)
