"""What a scripted model said and was told, and what of it is found in what was imported.

Three accounts of one conversation are compared: the script's answers, the bodies of the program's
requests, and the sessions that came out of the file it has written.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from holdfast.engine.client import Holdfast
from holdfast.model.log import Summary
from holdfast.model.message import Reasoning, Text, ToolCall, ToolResult
from holdfast.model.reply import Usage
from holdfast.testing.strict import Ask, Asked, Say, Think
from holdfast.testing.strict.script import used
from tests.agents.harness import Played
from tests.importers.looking import calls_of, parts

Row = tuple[str, str]
TAGS = re.compile(r"</?system-reminder>")


class Account(Struct):
    """Who said what, however often."""

    said: Counter[str] = field(default_factory=Counter[str])
    thought: Counter[str] = field(default_factory=Counter[str])
    called: Counter[Row] = field(default_factory=Counter[Row])
    answered: dict[str, str] = field(default_factory=dict[str, str])
    """What went to the model for each call, by its id."""
    used: Counter[Usage] = field(default_factory=Counter[Usage])
    shown: set[str] = field(default_factory=set[str])
    """Every text of a message that is no reply."""


def sent(played: Played, beside: Callable[[Asked], bool] = lambda asked: False) -> Account:
    """The conversation as the server has it; `beside` names requests that are no part of it."""
    account = Account()
    for asked in played.made:
        if beside(asked):
            continue
        told = asked.told
        assert told is not None
        account.used[counted(used(told, asked))] += 1
        for part in told.parts:
            if isinstance(part, Say):
                account.said[part.text.strip()] += 1
            elif isinstance(part, Ask):
                account.called[part.name, _plain(part.input)] += 1
            elif isinstance(part, Think) and part.text:
                account.thought[part.text] += 1
        _shown(asked, account)
    return account


def imported(hf: Holdfast) -> Account:
    """The conversation as the store has it, all its sessions together."""
    account = Account()
    for one in hf.every_session():
        session = hf.session(one.id)
        account.used.update(counted(call.usage) for call in calls_of(hf, session))
        for part in parts(session):
            if isinstance(part, ToolCall):
                account.called[part.name, _plain(part.input)] += 1
            elif isinstance(part, ToolResult):
                account.answered[part.call] = even(part.output)
        for entry in session.entries():
            body = entry.body
            if isinstance(body, Summary):
                account.shown.add(body.text.strip())
                continue
            texts = [p.text.strip() for p in getattr(body, "parts", ()) if isinstance(p, Text)]
            thoughts = [p.text for p in getattr(body, "parts", ()) if isinstance(p, Reasoning)]
            if getattr(body, "role", "") == "assistant":
                account.said.update(filter(None, texts))
                account.thought.update(filter(None, ["".join(thoughts)]))
            else:
                account.shown.update(filter(None, texts))
    return account


def counted(usage: Usage) -> Usage:
    """Usage without what was thought, which Anthropic's answers here do not tell apart."""
    return replace(usage, reasoning=0)


def unknown(texts: set[str], known: set[str]) -> list[str]:
    """The texts of which some word is in none of the known ones, and that word's surroundings."""
    words = sorted({even(TAGS.sub("", text)) for text in known} - {""}, key=len, reverse=True)
    left: list[str] = []
    for text in texts:
        rest = even(TAGS.sub("", text))
        for one in words:
            rest = rest.replace(one, "")
        left += [text] if rest else []
    return left


def even(text: str) -> str:
    """A text without its white space, which programs fold each in its own way."""
    return "".join(text.split())


def _shown(asked: Asked, account: Account) -> None:
    for role, block in _blocks(asked.body):
        kind = block.get("type") or ("functionResponse" if "functionResponse" in block else "")
        if kind in ("tool_result", "function_call_output", "custom_tool_call_output"):
            id = block.get("tool_use_id") or block["call_id"]
            told = block.get("content") if "content" in block else block.get("output")
            account.answered[id] = _text(told)
        elif kind == "functionResponse":
            found = block["functionResponse"]
            account.answered[f"{found['name']}__{found['id']}"] = _text(found["response"])
        elif isinstance(block.get("text"), str) and role not in ("assistant", "model"):
            account.shown.add(block["text"].strip())


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block of every message, whatever the format, with the role that it is from."""
    for turn in body.get("messages") or body.get("input") or body.get("contents") or ():
        role = turn.get("role", "")
        content = turn.get("content") if "content" in turn else turn.get("parts")
        if isinstance(content, str):
            yield role, {"type": "text", "text": content}
        elif isinstance(content, list):
            yield from ((role, block) for block in content)
        else:
            yield role, turn


def _text(told: Any) -> str:
    if isinstance(told, str):
        return even(told)
    if isinstance(told, dict):
        return even(str(told.get("output") or told.get("error") or ""))
    return even("".join(one["text"] for one in told or () if "text" in one))


def _plain(given: dict[str, Any] | str) -> str:
    """An input of a call, however it is spelled."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return str(given)
    return json.dumps(given, sort_keys=True)
