"""Rules A6 and A7: thinking comes back as it was issued, or not at all."""

from __future__ import annotations

from typing import Any

from holdfast.testing.strict.anthropic_rules import Found, called, contents, messages
from holdfast.testing.strict.refusal import Case, Rule
from holdfast.testing.strict.vault import fingerprint

THOUGHTS = ("thinking", "redacted_thinking")


def thoughts(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in contents(message) if block.get("type") in THOUGHTS]


def token(block: dict[str, Any]) -> str:
    """What vouches for a thought: its signature, or its encrypted data."""
    return str(block.get("signature" if block.get("type") == "thinking" else "data") or "")


def cycle(case: Case) -> list[int]:
    """The answers since the user last said something without answering a call, by place."""
    found: list[int] = []
    said = messages(case)
    for index in range(len(said) - 1, -1, -1):
        if said[index].get("role") == "assistant":
            found.insert(0, index)
        elif said[index].get("role") != "system" and not any(
            block.get("type") == "tool_result" for block in contents(said[index])
        ):
            break
    return found


def a6(case: Case) -> Found:
    """In a running tool cycle the thoughts stand before their calls, all and in order."""
    thinking = case.body.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else ""
    running = cycle(case)
    said = messages(case)
    if kind not in ("enabled", "adaptive") or not any(called(said[i]) for i in running):
        return
    for index in running:
        tokens = [token(block) for block in thoughts(said[index])]
        if tokens and not all(_kept(case, id, tokens) for id in called(said[index])):
            yield _modified(index)
    opening = next(iter(contents(said[running[0]])), {})
    # What lies before a compaction block is dropped; what must follow it is not documented.
    if kind == "enabled" and opening.get("type") not in (*THOUGHTS, "compaction"):
        yield (
            f"messages.{running[0]}.content.0.type: Expected `thinking` or `redacted_thinking`, "
            f"but found `{opening.get('type')}`. When `thinking` is enabled, a final `assistant` "
            "message must start with a thinking block (preceeding the lastmost set of `tool_use` "
            "and `tool_result` blocks)."
        )


def _kept(case: Case, call: str, tokens: list[str]) -> bool:
    """Whether the thoughts a call was made behind are all there, side by side."""
    due = [
        thought
        for thought in case.vault.thoughts(call) or ()
        if (issued := case.vault.issued(thought)) and issued.model == case.asked.model
    ]
    return any(tokens[at : at + len(due)] == due for at in range(len(tokens) + 1))


def a7(case: Case) -> Found:
    """A thought is whole, and for the model that had it."""
    said = messages(case)
    answers = [i for i, message in enumerate(said) if message.get("role") == "assistant"]
    for index in answers:
        for place, block in enumerate(contents(said[index])):
            if block.get("type") not in THOUGHTS:
                continue
            at = f"messages.{index}.content.{place}"
            if not token(block):
                field = "signature" if block["type"] == "thinking" else "data"
                yield f"{at}.{block['type']}.{field}: Field required"
            elif not _vouched(case, block):
                known = case.vault.issued(token(block))
                changed = known is not None and known.model == case.asked.model
                latest = changed and index == answers[-1]
                yield (
                    _modified(index, place)
                    if latest
                    else f"{at}: Invalid `signature` in `{block['type']}` block"
                )


def _vouched(case: Case, block: dict[str, Any]) -> bool:
    issued = case.vault.issued(token(block))
    if issued is None:
        return case.foreign
    content = fingerprinted(block)
    return (issued.model, issued.content) == (case.asked.model, content)


def fingerprinted(block: dict[str, Any]) -> str:
    """What a signature on this block vouches for."""
    return fingerprint(["redacted"] if block["type"] != "thinking" else block.get("thinking"))


def _modified(index: int, place: int = 0) -> str:
    return (
        f"messages.{index}.content.{place}: `thinking` or `redacted_thinking` blocks in the latest "
        "assistant message cannot be modified. These blocks must remain as they were in the "
        "original response."
    )


RULES: list[tuple[str, Rule]] = [("A6", a6), ("A7", a7)]
