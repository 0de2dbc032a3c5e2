"""The documented rules of the Responses API, each a function that finds where a request breaks it.

What a request cannot show is not judged: whose key made an encrypted text, what a server stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from holdfast.codecs.openai_responses.calls import KINDS, answers, asks
from holdfast.codecs.openai_shared import Fields, objects, string
from holdfast.model.profile import Profile
from holdfast.model.window import Violation

Rule = Callable[[dict[str, Any], Profile], Iterator[Violation]]

_NAMES = {
    "custom_tool_call": "custom tool call",
    "function_call": "function call",
    "local_shell_call": "local shell call",
}

NAMED_CALLS = ("function_call", "custom_tool_call")
"""Calls by whose id a server looks for the reasoning that led to them."""


def violations(request: dict[str, Any], profile: Profile) -> list[Violation]:
    """Every rule that a request breaks, in the order of the rules."""
    told = request | {"input": objects(request.get("input"))}
    rules = [rule for rule in RULES if rule not in OF_PAIRS] if _paired(told["input"]) else RULES
    return [found for rule in rules for found in rule(told, profile)]


def _items(request: dict[str, Any]) -> list[Fields]:
    return request["input"]


def _paired(items: list[Fields]) -> bool:
    """Whether each call is answered once, behind it, in its kind: then the rules of pairs hold."""
    waiting: dict[str, Fields] = {}
    for item in items:
        if call := asks(item):
            if call in waiting:
                return False
            waiting[call] = item
        elif answer := answers(item):
            asked = waiting.pop(answer, None)
            if asked is None or not _fits(asked, item):
                return False
    return not waiting


def _continues(request: dict[str, Any]) -> bool:
    """Whether earlier items are the server's to know."""
    return bool(request.get("previous_response_id") or request.get("conversation"))


def _fits(call: Fields, answer: Fields) -> bool:
    """Whether an output is of its call's kind; any client call may be answered as a function."""
    output = answer.get("type")
    kind = KINDS[call["type"]]
    if output == "function_call_output":
        return kind.type != "custom_tool_call"
    return output == kind.output


def _spoken(item: Fields) -> str:
    type = string(item.get("type")).removesuffix("_output")
    return _NAMES.get(type, type.replace("_", " "))


def o1_every_call_is_answered(request: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    """O1: a call has an output with its `call_id` after it."""
    items = _items(request)
    later: dict[str, Fields] = {}
    open_calls: list[int] = []
    for place in reversed(range(len(items))):
        item = items[place]
        if (call := asks(item)) and not (call in later and _fits(item, later[call])):
            open_calls.append(place)
        if answer := answers(item):
            later[answer] = item
    for place in reversed(open_calls):
        yield Violation(
            rule="O1",
            where=f"input.{place}",
            message=f"No tool output found for {_spoken(items[place])} {asks(items[place])}.",
        )


def o2_every_answer_has_its_call(request: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    """O2: an output has a call with its `call_id` before it, unless the server holds the call."""
    if _continues(request):
        return
    yield from _orphans(request, "O2", 0)


def _orphans(request: dict[str, Any], rule: str, start: int) -> Iterator[Violation]:
    asked: dict[str, Fields] = {}
    for place, item in enumerate(_items(request)):
        if call := asks(item):
            asked[call] = item
        answer = answers(item)
        known = answer in asked and _fits(asked[answer], item)
        if answer and not known and place >= start and item.get("execution") != "server":
            yield Violation(
                rule=rule,
                where=f"input.{place}",
                message=f"No tool call found for {_spoken(item)} output with call_id {answer}.",
            )


def o3_reasoning_is_followed(request: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    """O3: a reasoning item is followed by the item that it led to."""
    items = _items(request)
    if not any(item.get("type") == "reasoning" for item in items):
        return
    waiting: list[tuple[int, Fields]] = []
    for place, item in enumerate([*items, {"role": "nobody"}]):
        if item.get("type") == "reasoning":
            waiting.append((place, item))
            continue
        for where, reasoning in [] if _made(item) else waiting:
            name = string(reasoning.get("id"))
            yield Violation(
                rule="O3",
                where=f"input.{where}",
                message=f"Item '{name}' of type 'reasoning' was provided without its required "
                "following item.",
            )
        waiting = []


def _made(item: Fields) -> bool:
    """Whether the model made an item."""
    if answers(item) and item.get("execution") != "server":
        return False
    return item.get("role", "assistant") == "assistant"


def o4_a_call_keeps_its_reasoning(request: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    """O4: a call of a thinking model that is sent with its id has its reasoning before it.

    The server knows by the id what led to a call. This does not: it asks for some reasoning since
    anybody else spoke, so a call that came without any is to be sent without its id.
    """
    if not profile.can("thinking"):
        return
    reasoned = False
    items = _items(request)
    if not any(item.get("type") in NAMED_CALLS and item.get("id") for item in items):
        return
    for place, item in enumerate(items):
        reasoned = (reasoned or item.get("type") == "reasoning") and _made(item)
        name = string(item.get("id"))
        if item.get("type") in NAMED_CALLS and name and not reasoned:
            yield Violation(
                rule="O4",
                where=f"input.{place}",
                message=f"Item '{name}' of type '{item['type']}' was provided without its required "
                "'reasoning' item.",
            )


def o5_sealed_content_is_whole(request: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    """O5: without storage, reasoning brings its encrypted content; an empty one is not verified."""
    stored = request.get("store") is not False or _continues(request)
    for place, item in enumerate(_items(request)):
        if item.get("type") not in ("reasoning", "compaction"):
            continue
        content, name = item.get("encrypted_content"), string(item.get("id"))
        message = ""
        if content is not None and not string(content):
            message = f"The encrypted content for item {name} could not be verified."
        elif content is None and not stored and not objects(item.get("content")):
            message = (
                f"Item with id '{name}' not found. Items are not persisted when `store` is set to "
                "false."
            )
        if message:
            yield Violation(rule="O5", where=f"input.{place}", message=message)


def o6_no_compaction_inside_a_pair(
    request: dict[str, Any], profile: Profile
) -> Iterator[Violation]:
    """O6: going on from an earlier response, no compaction stands between a call and its output."""
    if not _continues(request):
        return
    items = _items(request)
    places = [place for place, item in enumerate(items) if item.get("type") == "compaction"]
    if places:
        yield from _orphans(request, "O6", places[0])


RULES: tuple[Rule, ...] = (
    o1_every_call_is_answered,
    o2_every_answer_has_its_call,
    o3_reasoning_is_followed,
    o4_a_call_keeps_its_reasoning,
    o5_sealed_content_is_whole,
    o6_no_compaction_inside_a_pair,
)

OF_PAIRS = (
    o1_every_call_is_answered,
    o2_every_answer_has_its_call,
    o6_no_compaction_inside_a_pair,
)
"""The rules that hold wherever every call has its answer."""
