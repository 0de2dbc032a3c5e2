"""What Anthropic wants of context management: what is asked for, and what comes back of it.

Documented in its pages on context editing and compaction: betas are named in a header; thinking is
cleared first; a compaction begins at 50,000 tokens or more; its block comes back as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.testing.strict.anthropic_rules import Found, contents, messages
from holdfast.testing.strict.refusal import Case, Rule, dicts
from holdfast.testing.strict.vault import fingerprint

EDITING, COMPACTING, SIGNED = (
    "context-management-2025-06-27",
    "compact-2026-01-12",
    "compact-2026-09-04",
)
LEAST = 50_000
KNOWN = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")


def edits(case: Case) -> list[dict[str, Any]]:
    """The edits that a request asks for."""
    management = case.body.get("context_management")
    return dicts(management.get("edits")) if isinstance(management, dict) else []


def compactions(case: Case) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every compaction block: where, who says it, and the block."""
    for index, message in enumerate(messages(case)):
        for place, block in enumerate(contents(message)):
            if block.get("type") == "compaction":
                yield f"messages.{index}.content.{place}", str(message.get("role")), block


def read(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What the model is shown of a request: blocks, from the last compaction that says anything."""
    shown: list[dict[str, Any]] = []
    for message in dicts(body.get("messages")):
        for block in contents(message):
            if block.get("type") == "compaction":
                shown = [block] if block.get("content") else shown
            else:
                shown.append(block)
    return shown


def asked(case: Case) -> Found:
    """What is asked for is known, in order, and named in the header."""
    told = edits(case)
    betas = case.asked.headers.get("anthropic-beta", "")
    kinds = [str(edit.get("type")) for edit in told]
    if told and not any(beta in betas for beta in (EDITING, COMPACTING)):
        yield "context_management: Extra inputs are not permitted"
    for place, edit in enumerate(told):
        at = f"context_management.edits.{place}"
        if edit.get("type") not in KNOWN:
            yield f"{at}: Input tag '{edit.get('type')}' does not match any of the expected tags"
        if edit.get("type") == "compact_20260112":
            yield from _compacts(edit, at, betas)
    if "clear_thinking_20251015" in kinds[1:]:
        yield "context_management: `clear_thinking_20251015` must be the first edit"
    if "clear_thinking_20251015" in kinds and not _thinks(case):
        yield "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive"


def _compacts(edit: dict[str, Any], at: str, betas: str) -> Found:
    trigger = edit.get("trigger")
    least = trigger.get("value", LEAST) if isinstance(trigger, dict) else LEAST
    if COMPACTING not in betas:
        yield f"{at}.type: `compact_20260112` needs the beta {COMPACTING}"
    if not isinstance(least, int) or least < LEAST:
        yield f"{at}.trigger.value: Input should be greater than or equal to {LEAST}"


def _thinks(case: Case) -> bool:
    thinking = case.body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")


def echoed(case: Case) -> Found:
    """A compaction block is the assistant's, unchanged, and named in the header."""
    betas = case.asked.headers.get("anthropic-beta", "")
    compacting = any(edit.get("type") == "compact_20260112" for edit in edits(case))
    for at, role, block in compactions(case):
        signed, content = bool(block.get("signature")), block.get("content")
        if role != "assistant":
            yield f"{at}: `compaction` blocks can only be in `assistant` messages"
        if (SIGNED if signed else COMPACTING) not in betas:
            yield f"{at}.type: Input tag 'compaction' does not match any of the expected tags"
        if content == "":
            yield f"{at}.compaction.content: String should have at least 1 character"
        if content and not _vouched(case, block):
            yield f"{at}: `compaction` blocks must be sent back as they were received"
        if signed and compacting:
            yield f"{at}: a signed compaction cannot be combined with `compact_20260112`"


def _vouched(case: Case, block: dict[str, Any]) -> bool:
    token = str(block.get("signature") or block.get("encrypted_content") or "")
    issued = case.vault.issued(token)
    if issued is None:
        return case.foreign
    return (issued.format, issued.content) == ("anthropic", fingerprint(block["content"]))


RULES: list[tuple[str, Rule]] = [("context", asked), ("compaction", echoed)]
