"""The same steps done by the provider, where it can: what is asked of it, in its own words.

Rule 1: only what a policy does is asked for, with the policy's own numbers.
Rule 2: what the provider does is not done by us as well, until the window would be over.
Rule 3: where a provider cannot, the client does the same; nobody need ask which it was.
Rule 4: what no reply has come to yet is not left out, but by a policy that does exactly what
        another program did.
Rule 5: what somebody took back is not asked for again: the provider would do it again at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from holdfast.core.boundary import unread_from
from holdfast.model.log import Folded
from holdfast.model.message import Message, ToolResult
from holdfast.model.policy import Policy, Step
from holdfast.model.profile import Profile
from holdfast.model.window import Block

START: Final = Folded()

SMALLEST: Final = 50_000
"""Anthropic compacts at no fewer tokens than this."""


def edits(
    policy: Policy,
    profile: Profile,
    *,
    thinking: bool,
    folded: Folded = START,
    blocks: Sequence[Block] = (),
) -> dict[str, Any]:
    """What to ask of the provider of a model; nothing where we do all ourselves.

    `thinking` says whether the model is asked to think: otherwise there is none to be cleared.
    What was undone is in `folded`, and is not asked for again. Of `blocks`, which are sent, the
    results that no reply has come to are not to be cleared.
    """
    if policy.strategy != "server":
        return {}
    compacts = not folded.shielded
    if profile.provider == "openai":
        able = compacts and profile.can("server_compaction")
        threshold = due(policy, profile) if able else 0
        return {"type": "compaction", "compact_threshold": threshold} if threshold else {}
    if profile.provider != "anthropic":
        return {}
    unread = _unread(blocks) if policy.keeps_unread else 0
    asked = [] if folded.unclearable else _clears(policy, profile, thinking, unread)
    asked += _compacts(policy, profile) if compacts else []
    return {"edits": asked} if asked else {}


def theirs(policy: Policy, profile: Profile, step: Step, folded: Folded = START) -> bool:
    """Whether a step is the provider's to take."""
    if policy.strategy != "server":
        return False
    if step in ("thinking", "microcompact"):
        return (
            not folded.unclearable
            and profile.provider == "anthropic"
            and profile.can("context_editing")
        )
    if step in ("summarise", "compact"):
        able = profile.provider in ("anthropic", "openai") and profile.can("server_compaction")
        return able and not folded.shielded
    return False


def due(policy: Policy, profile: Profile) -> int:
    """The tokens at which a policy summarises; 0 where it does not."""
    rule = policy.compact or policy.summarise
    if rule is None:
        return 0
    marks = [int(share * profile.window) for share in (rule.due.window, rule.due.room) if share]
    marks += [rule.due.tokens] if rule.due.tokens else []
    return min(marks, default=0)


def _unread(blocks: Sequence[Block]) -> int:
    """How many results are sent that no reply has come to yet."""
    talk = [Message(block.role, block.parts) for block in blocks]
    fresh = talk[unread_from(talk) :]
    return sum(isinstance(part, ToolResult) for message in fresh for part in message.parts)


def _clears(policy: Policy, profile: Profile, thinking: bool, unread: int) -> list[dict[str, Any]]:
    """Clearing, thinking first as the provider wants it."""
    if not profile.can("context_editing"):
        return []
    asked: list[dict[str, Any]] = []
    if policy.thinking and thinking:
        keep = {"type": "thinking_turns", "value": max(policy.thinking.keep, 1)}
        asked.append({"type": "clear_thinking_20251015", "keep": keep})
    if policy.microcompact:
        rule = policy.microcompact
        clears: dict[str, Any] = {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": rule.trigger},
            "keep": {"type": "tool_uses", "value": max(rule.keep, unread)},
        }
        if rule.least:
            clears["clear_at_least"] = {"type": "input_tokens", "value": rule.least}
        asked.append(clears)
    return asked


def _compacts(policy: Policy, profile: Profile) -> list[dict[str, Any]]:
    threshold = due(policy, profile)
    if not threshold or not profile.can("server_compaction"):
        return []
    trigger = {"type": "input_tokens", "value": max(threshold, SMALLEST)}
    return [{"type": "compact_20260112", "trigger": trigger}]
