"""What OpenAI refuses, O1–O7, written from its answers alone: Responses and Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.testing.strict.refusal import Case, Refusal, Rule, dicts

Found = Iterator[str | Refusal]
Item = dict[str, Any]

CALLS = {
    "function_call": "function call",
    "custom_tool_call": "custom tool call",
    "local_shell_call": "local shell call",
    "shell_call": "shell call",
    "apply_patch_call": "apply patch call",
    "computer_call": "computer call",
}
PREFIXES = {"function_call": "fc", "reasoning": "rs", "message": "msg", "custom_tool_call": "ctc"}
OUTPUTS = {f"{name}_output": words for name, words in CALLS.items()}


def items(case: Case) -> list[Item]:
    """The input as items; plain text is one message of the user."""
    given = case.body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return [_typed(item) for item in dicts(given)]


def _typed(item: Item) -> Item:
    return item if "type" in item or "role" not in item else {"type": "message", **item}


def context(case: Case) -> list[Item]:
    """All that the model would see: the stored conversation, then the input.

    A compaction item that comes in place of a stored conversation replaces it: an output that
    follows has lost its call (rule O6).
    """
    given = items(case)
    stored = case.vault.kept(str(case.body.get("previous_response_id") or "")) or []
    compacted = any(item.get("type") == "compaction" for item in given)
    return given if compacted else [*stored, *given]


def o1(case: Case) -> Found:
    """A call has its output behind it."""
    seen = context(case)
    for index, item in enumerate(seen):
        if item.get("type") in CALLS and item.get("call_id"):
            want = (f"{item['type']}_output", item["call_id"])
            if want not in {(each.get("type"), _answers(each)) for each in seen[index + 1 :]}:
                kind = CALLS[item["type"]]
                yield _input(f"No tool output found for {kind} {item['call_id']}.", "O1")


def o2(case: Case) -> Found:
    """An output has its call before it."""
    known: set[tuple[Any, Any]] = set()
    for item in context(case):
        if item.get("type") in CALLS:
            known.add((f"{item['type']}_output", item.get("call_id")))
        elif item.get("type") in OUTPUTS and (item["type"], _answers(item)) not in known:
            kind = OUTPUTS[item["type"]]
            words = f"No tool call found for {kind} output with call_id {_answers(item)}."
            yield _input(words, "O2")


def _answers(item: Item) -> Any:
    """The call an output belongs to; a local shell's output names it in `id`."""
    return item.get("call_id") or item.get("id")


def o3(case: Case) -> Found:
    """Reasoning is followed by what it led to."""
    seen = context(case)
    for index, item in enumerate(seen):
        rest = [each for each in seen[index:] if each.get("type") != "reasoning"]
        if item.get("type") == "reasoning" and not (rest and _made(rest[0])):
            yield _input(
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required "
                "following item.",
                "O3",
            )


def _made(item: Item) -> bool:
    """Whether the model made it."""
    kind = str(item.get("type"))
    if kind == "message":
        return item.get("role") == "assistant"
    return not kind.endswith("_output")


def o4(case: Case) -> Found:
    """What was made with reasoning comes back with it, as long as it comes under its id."""
    seen = context(case)
    there = {item.get("id") for item in seen if item.get("type") == "reasoning"}
    for item in seen:
        leader = case.vault.leader(str(item.get("id") or ""))
        if leader and leader not in there:
            yield _input(
                f"Item '{item['id']}' of type '{item.get('type')}' was provided without its "
                f"required 'reasoning' item: '{leader}'.",
                "O4",
            )


def o5(case: Case) -> Found:
    """Encrypted content is the model's own, unchanged."""
    for item in items(case):
        sealed = item.get("encrypted_content")
        if not isinstance(sealed, str):
            yield from _lost(case, item)
            continue
        issued = case.vault.issued(sealed)
        if case.foreign if issued is None else issued.model == case.asked.model:
            continue
        shown = f"{sealed[:4]}...{sealed[-4:]}"
        yield Refusal(
            rule="O5",
            message=f"The encrypted content {shown} could not be verified. Reason: Encrypted "
            "content could not be decrypted or parsed.",
            code="invalid_encrypted_content",
        )


def _lost(case: Case, item: Item) -> Found:
    """Reasoning without its content is only known to a server that stored it."""
    if item.get("type") == "reasoning" and case.body.get("store") is False:
        yield Refusal(
            rule="O5",
            status=404,
            message=f"Item with id '{item.get('id')}' not found. Items are not persisted when "
            "`store` is set to false. Try again with `store` set to true, or remove this item "
            "from your input.",
            param="input",
        )


def o6(case: Case) -> Found:
    """A conversation that is carried on is one that was stored."""
    previous = case.body.get("previous_response_id")
    if previous and case.vault.kept(str(previous)) is None:
        yield Refusal(
            rule="O6",
            message=f"Previous response with id '{previous}' not found.",
            code="previous_response_not_found",
            param="previous_response_id",
        )


def shape(case: Case) -> Found:
    """Ids begin as their kind wants, and none comes twice."""
    seen: set[str] = set()
    if "input" not in case.body and not case.body.get("previous_response_id"):
        yield _input("Missing required parameter: 'input'.", "shape")
    for index, item in enumerate(items(case)):
        id = item.get("id")
        if not isinstance(id, str) or item.get("type") == "item_reference":
            continue
        prefix = PREFIXES.get(str(item.get("type")), "")
        if not id.startswith(prefix) or len(id) > 64:
            yield _input(
                f"Invalid 'input[{index}].id': '{id}'. Expected an ID that begins with '{prefix}'.",
                "shape",
            )
        if id in seen:
            yield _input(
                f"Duplicate item found with id {id}. Remove duplicate items from your input and "
                "try again.",
                "shape",
            )
        seen.add(id)


def _input(message: str, rule: str) -> Refusal:
    return Refusal(rule=rule, message=message, param="input")


def o7(case: Case) -> Found:
    """In a chat an answer says or calls something, and its tools answer at once."""
    said = dicts(case.body.get("messages"))
    if not said:
        yield _chat("Invalid 'messages': empty array. Expected an array with minimum length 1.", 0)
    waiting: list[str] = []
    for index, message in enumerate(said):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in waiting:
                yield _chat(
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'.",
                    index,
                )
                return
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            break
        yield from _speaks(message, index)
        waiting = [str(call.get("id")) for call in dicts(message.get("tool_calls"))]
    if waiting:
        yield _chat(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(waiting),
            len(said) - 1,
        )


def _speaks(message: Item, index: int) -> Found:
    role = message.get("role")
    if role not in ("system", "developer", "user", "assistant"):
        yield _chat(f"Invalid value: '{role}'.", index)
    said = message.get("content") or message.get("refusal") or message.get("audio")
    if role == "assistant" and not said and not message.get("tool_calls"):
        yield _chat("Assistant message must contain either 'content' or 'tool_calls'", index)
    if role != "assistant" and message.get("content") is None:
        yield _chat("Invalid value for 'content': expected a string, got null.", index)


def _chat(message: str, index: int) -> Refusal:
    return Refusal(rule="O7", message=message, param=f"messages.[{index}]")


RESPONSES: list[tuple[str, Rule]] = [
    ("shape", shape),
    ("O6", o6),
    ("O2", o2),
    ("O1", o1),
    ("O3", o3),
    ("O4", o4),
    ("O5", o5),
]
CHAT: list[tuple[str, Rule]] = [("O7", o7)]
