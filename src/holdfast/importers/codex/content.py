"""From the items of a rollout to parts: words, pictures, answers of tools, and how those ended.

Rule 1: a failure is told in words only, so the words decide whether an answer is an error.
Rule 2: what a model is sent is kept as it is sent: a tool's answer with its header, JSON as JSON.
"""

from __future__ import annotations

import re
from typing import Any

from holdfast.codecs.openai_responses.decode import grouped
from holdfast.importers.jsonl import UNREADABLE, decode
from holdfast.importers.values import picture, table, text
from holdfast.model import wire
from holdfast.model.message import Media, Part, Reasoning, Text, ToolResult

OWN = ("internal_chat_message_metadata_passthrough", "metadata")
"""Members that Codex adds for itself."""

WORDS = ("input_text", "output_text", "text")

_CONTEXT = re.compile(
    r"\s*(?:#\s*(?P<file>AGENTS\.md instructions)|</?(?P<tag>environment_context|user_instructions"
    r"|INSTRUCTIONS|skills?|user_shell_command|turn_aborted|subagent_notification|user_action"
    r"|codex_internal_context|goal_context|recommended_plugins|hook_prompt|additional_context"
    r"|permissions instructions|current_time_reminder|model_switch|image)\b"
    r"|(?P<warning>Warning: (?:The maximum number of unified exec|apply_patch was requested"
    r"|Your account was flagged)))"
)

_HEADER = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_ENDED = re.compile(r'\A\{"exit_code":\s*(-?\d+)')
_FAILED = re.compile(
    r"\A(?:error: |Script failed|failed in sandbox|execution error|exec_command failed|"
    r"apply_patch verification failed|unsupported (?:custom )?(?:tool )?call|unified exec|"
    r"failed to parse function arguments|command timed out|aborted by user|err: )",
    re.IGNORECASE,
)
HEAD = 400
"""How far into an answer its header reaches."""


def context(words: str) -> str:
    """The tag of what the program tells the model in the user's name; empty for anybody's words."""
    found = _CONTEXT.match(words)
    if found is None:
        return ""
    return found["tag"] or ("INSTRUCTIONS" if found["file"] else "system-reminder")


def spoken(content: Any, *, human: bool) -> list[Part]:
    """The words and pictures of somebody's message; by a `human`, all words are his own."""
    if type(content) is str:
        content = [{"type": "input_text", "text": content}]
    found: list[Part] = []
    for one in content if type(content) is list else ():
        words = text(table(one).get("text")) if table(one).get("type") in WORDS else ""
        picture = media(table(one))
        if words:
            found.append(Text(words, scaffold="" if human else context(words)))
        elif picture:
            found.append(picture)
    return found


def replied(payload: dict[str, Any], owner: str, model: str, id: str) -> list[Part]:
    """What a model said in one item, as its own codec reads it; `id` is for a call without one."""
    item = {name: value for name, value in payload.items() if value is not None and name not in OWN}
    kind = item.get("type")
    if kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"):
        item["call_id"] = text(item.get("call_id")) or text(item.get("id")) or id
        item["name"] = text(item.get("name")) or text(table(item.get("function")).get("name"))
    if kind == "message":
        item["content"] = _texts(item.get("content"))
    parts = [part for some in grouped([item], owner, model) for part in some]
    return [part for part in parts if not _is_empty(part, item)]


def _texts(content: Any) -> list[dict[str, Any]]:
    """The texts of a model's message; everything else in it is kept with its record."""
    if type(content) is str:
        return [{"type": "output_text", "text": content}]
    found = [table(one) for one in content] if type(content) is list else []
    return [one for one in found if text(one.get("text")) or text(one.get("refusal"))]


def _is_empty(part: Part, item: dict[str, Any]) -> bool:
    """Whether an item says nothing: a thought that nobody can read, no words."""
    if isinstance(part, Reasoning):
        return not (part.text or text(item.get("encrypted_content")))
    return item.get("type") == "message" and not item["content"]


def answered(payload: dict[str, Any], id: str, name: str) -> ToolResult:
    """What a tool answered."""
    output = payload.get("tools" if payload.get("type") == "tool_search_output" else "output")
    found = output if type(output) is list else [output]
    texts = [words for one in found if (words := _words(one)) is not None]
    pictures = tuple(picture for one in found if (picture := media(table(one))))
    if payload.get("type") == "tool_search_output":
        texts = [wire.encode({"tools": output}).decode("utf-8", "surrogatepass")]
    failed = any(map(is_failure, texts)) or table(output).get("success") is False
    return ToolResult(call=id, output=joined(texts), error=failed, name=name, media=pictures)


def _words(one: Any) -> str | None:
    if type(one) is str:
        return one
    words = table(one).get("text", table(one).get("content"))
    return words if type(words) is str else None


def joined(texts: list[str]) -> str:
    """Pieces of an answer, each on a line of its own."""
    said = ""
    for one in texts:
        said += f"\n{one}" if said and not said.endswith("\n") else one
    return said


def is_failure(answer: str) -> bool:
    """Whether a tool's answer says that it failed."""
    if answer.startswith('{"output":') and (code := _exit_code(answer)):
        return code != 0
    head = answer[:HEAD].split("\nOutput:\n", 1)[0]
    code = _HEADER.search(head) or _ENDED.match(head)
    return int(code[1]) != 0 if code else bool(_FAILED.match(head))


def _exit_code(answer: str) -> int:
    try:
        told = table(decode(answer.encode("utf-8", "surrogatepass")))
    except UNREADABLE:
        return 0
    code = table(told.get("metadata")).get("exit_code")
    return code if type(code) is int else 0


def media(one: dict[str, Any]) -> Media | None:
    """A picture; None where it is none, or its bytes are not there."""
    if one.get("type") not in ("input_image", "image"):
        return None
    url = text(one.get("image_url")) or text(table(one.get("image_url")).get("url"))
    if url.startswith(("https://", "http://")):
        return Media(type="image/png", url=url)
    head, _, body = url.partition(",")
    if not (head.startswith("data:") and head.endswith(";base64")):
        return None
    return picture(head.removeprefix("data:").split(";")[0] or "image/png", body)


def thinned(content: Any) -> Any:
    """A list of content without what its parts say: texts by their lengths, pictures empty."""
    return [_thinned(one) for one in content] if type(content) is list else content


def _thinned(one: Any) -> Any:
    if type(one) is str:
        return len(one)
    if type(one) is dict and type(one.get("text")) is str and one.get("type") in WORDS:
        return one | {"text": len(one["text"])}
    return one | {"image_url": ""} if type(one) is dict and media(one) else one


def is_plain(content: Any) -> bool:
    """Whether a list of content is nothing but words."""
    plain = {"type", "text"}
    return type(content) is list and all(
        type(one) is dict and one.keys() == plain and one["type"] in WORDS and one["text"]
        for one in content
    )
