"""Files, commands and statuses read straight off the raw JSON of a transcript.

Written by hand from the formats, with none of the package's code, so that the ledger has something
to be held against. A path is mapped to how it ended; a command to its line, its status and whether
it failed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """A command as the raw record shows it."""

    line: str
    exit: int | None
    failed: bool | None
    """None where nothing tells."""


class Facts:
    """What the raw records of one transcript show."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.changes: dict[str, str] = {}
        self.commands: list[Ran] = []

    def change(self, path: str, how: str) -> None:
        new = self.changes.get(path) == "created" and how in ("changed", "written")
        again = self.changes.get(path) in ("changed", "written") and how == "written"
        self.changes[path] = "created" if new else "changed" if again else how


def lines_of(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in file.read_text("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        found += [record] if isinstance(record, dict) else []
    return found


def claude_facts(file: Path) -> Facts:
    facts, calls, results = Facts(), [], {}
    for role, block in _claude_blocks(file):
        if block.get("type") == "tool_use" and role == "assistant":
            calls.append(block)
        if block.get("type") == "tool_result" and role == "user":
            results.setdefault(str(block.get("tool_use_id")), (len(results), block))
    answered = [(results[str(c.get("id"))], c) for c in calls if str(c.get("id")) in results]
    for (_, result), call in sorted(answered, key=lambda pair: pair[0][0]):
        _claude_file(facts, call, result)
    for call in calls:
        _claude_command(facts, call, results.get(str(call.get("id")), (0, None))[1])
    return facts


def _claude_blocks(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[object] = set()
    for record in lines_of(file):
        message = record.get("message")
        if record.get("isSidechain") or not isinstance(message, dict) or record.get("uuid") in seen:
            continue
        seen.add(record.get("uuid") or object())
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                yield str(record.get("type")), block


def _given(call: dict[str, Any]) -> dict[str, Any]:
    given = call.get("input")
    return given if isinstance(given, dict) else {}


def _claude_file(facts: Facts, call: dict[str, Any], result: dict[str, Any]) -> None:
    given = _given(call)
    path = given.get("file_path") or given.get("notebook_path") or given.get("path")
    refused = _text(result).startswith("The user doesn't want to")
    if call.get("name") in ("Bash", "PowerShell", "bash"):
        _claude_shell(facts, call, given, result)
    if not path or result.get("is_error") or refused:
        return
    if call["name"] == "Read":
        facts.read.add(path)
    elif call["name"] in ("Edit", "MultiEdit", "NotebookEdit"):
        made = _text(result).startswith("File created successfully")
        facts.change(path, "created" if made else "changed")
    elif call["name"] == "Write":
        facts.change(path, _how_written(_text(result)))


def _how_written(text: str) -> str:
    if text.startswith("File created successfully"):
        return "created"
    return "changed" if "has been updated" in text[:300] else "written"


def _claude_shell(
    facts: Facts, call: dict[str, Any], given: dict[str, Any], result: dict[str, Any]
) -> None:
    ended = _text(result)
    if result.get("is_error") or ended.startswith("Command running in background"):
        return
    if call["name"] != "bash":
        _removals(facts, str(given.get("command") or ""))


def _claude_command(facts: Facts, call: dict[str, Any], result: dict[str, Any] | None) -> None:
    given = _given(call)
    line = given.get("command")
    if call.get("name") not in ("Bash", "PowerShell", "bash") or not line:
        return
    if result is None or call["name"] == "bash":
        facts.commands.append(Ran(line, None, True if result and result.get("is_error") else None))
        return
    text = _text(result)
    status = re.match(r"Exit code (\d+)\b", text) if result.get("is_error") else None
    unsure = text.startswith(
        ("The user doesn't want to", "Command running in background", "[Request")
    )
    failed = None if unsure else bool(result.get("is_error"))
    facts.commands.append(Ran(line, int(status[1]) if status else None, failed))


def _text(result: dict[str, Any]) -> str:
    content = result.get("content")
    if isinstance(content, list):
        return "\n".join(
            p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str)
        )
    return content if isinstance(content, str) else ""


def codex_facts(file: Path) -> Facts:
    facts, calls, outputs = Facts(), [], {}
    for record in lines_of(file):
        payload = record.get("payload", record)
        if record.get("type") in ("compacted", "session_meta") or not isinstance(payload, dict):
            continue
        kind = payload.get("type") or ""
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            calls.append(payload)
        elif kind.endswith("_call_output"):
            outputs.setdefault(payload.get("call_id"), (len(outputs), payload.get("output")))
    ended = [(outputs[c.get("call_id")], c) for c in calls if c.get("call_id") in outputs]
    for (_, output), call in sorted(ended, key=lambda pair: pair[0][0]):
        _codex_file(facts, call, _plain(output))
    for call in calls:
        _codex_command(facts, call, _plain(outputs.get(call.get("call_id"), (0, None))[1]))
    return facts


def _plain(output: Any) -> str | None:
    if isinstance(output, list):
        return "\n".join(
            p["text"] for p in output if isinstance(p, dict) and isinstance(p.get("text"), str)
        )
    return output if isinstance(output, str) or output is None else json.dumps(output)


def _codex_status(output: str | None) -> int | None:
    if output is None:
        return None
    try:
        return int(json.loads(output)["metadata"]["exit_code"])
    except (ValueError, KeyError, TypeError):
        head = re.match(
            r"Exit code: (\d+)\nWall time|failed in sandbox .*? exit code: (\d+),", output
        )
        return int(head[1] or head[2]) if head else None


def _codex_line(call: dict[str, Any]) -> str:
    try:
        given = json.loads(call.get("arguments") or call.get("input") or "null")["command"]
    except (ValueError, TypeError, KeyError):
        return ""
    if isinstance(given, list):
        return given[2] if given[:2] == ["bash", "-lc"] else " ".join(given)
    return given


def _codex_command(facts: Facts, call: dict[str, Any], output: str | None) -> None:
    status = _codex_status(output)
    if call.get("name") in ("shell", "shell_command") and _codex_line(call):
        failed = None if status is None else status != 0
        facts.commands.append(Ran(_codex_line(call), status, failed))
    elif call.get("name") == "exec":
        script = call.get("input") or ""
        literal = r'exec_command\(\{\s*"?cmd"?\s*:\s*("(?:[^"\\]|\\.)*")'
        lines = [json.loads(text) for text in re.findall(literal, script)] or [script]
        facts.commands += [Ran(line, None, None) for line in lines if "exec_command" in script]


def _codex_file(facts: Facts, call: dict[str, Any], output: str | None) -> None:
    status = _codex_status(output)
    if call.get("name") == "apply_patch" and not status:
        _patch(facts, call.get("input") or "")
    elif call.get("name") == "exec" and "apply_patch" in (call.get("input") or ""):
        if (output or "").startswith(("Script failed", "Script running")):
            return
        for text in re.findall(r'"(?:[^"\\]|\\.)*"', call["input"]):
            _patch(facts, json.loads(text) if "Begin Patch" in text else "")
    elif call.get("name") in ("shell", "shell_command") and status == 0:
        line = _codex_line(call)
        if "apply_patch" in line or "applypatch" in line:
            _patch(facts, line)
        else:
            _removals(facts, line)


def _patch(facts: Facts, text: str) -> None:
    inside = False
    for line in text.splitlines():
        if line.startswith(("*** Begin Patch", "*** End Patch")):
            inside = line.startswith("*** Begin")
        named = re.match(r"\*\*\* (Add|Update|Delete) File: (.+?)\s*$", line) if inside else None
        if named:
            how = {"Add": "created", "Update": "changed", "Delete": "deleted"}[named[1]]
            facts.change(named[2], how)


def _edits(facts: Facts, line: str) -> None:
    """What sed -i edits, its script in quotes and without more of them, in a list of commands.

    The list has no other sign outside of quotes that ends a command; a cd before it is plain.
    """
    option = r"""-[Enr]*i(?:\.\w+)?(?: ''| "")?"""
    script = r"""(?:-e )?(?:'[^']*'|"[^"$`\\]*")"""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"|2>&1", "", line)
    if re.search(r"[;\n]|\|\||(?<!&)&(?!&)", unquoted):
        return
    at, paths = Path(), list[str]()
    for part in re.split(r"""&&(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""", line):
        found = re.fullmatch(rf"\s*sed {option} {script}((?: [\w./@%+=:,-]+)+)\s*", part)
        if part.split()[:1] == ["cd"]:
            if not (there := re.fullmatch(r"\s*cd ([\w./@%+=:,-]+)\s*", part)):
                return
            at = at / there[1]
        paths += [str(at / path) for path in found[1].split()] if found else []
    for path in paths:
        facts.change(path, "changed")


def _removals(facts: Facts, line: str) -> None:
    """Commands made of nothing but plain rm, mv, cp, touch, mkdir and cd."""
    verbs = r"(?:git )?rm|(?:git )?mv|cp|touch|mkdir|cd"
    parts = [re.fullmatch(rf"\s*({verbs})((?:\s+[\w./@%+=:,-]+)*)\s*", p) for p in line.split("&&")]
    if not all(parts):
        _edits(facts, line)
        return
    for part in parts:
        assert part
        paths = [word for word in part[2].split() if not word.startswith("-")]
        verb = part[1].removeprefix("git ")
        two = len(paths) == 2 and not paths[1].endswith(("/", "."))
        gone = paths if verb == "rm" else paths[:1] if verb == "mv" and two else []
        made = paths if verb == "touch" else paths[1:] if verb in ("mv", "cp") and two else []
        for path in gone:
            facts.change(path, "deleted")
        for path in made:
            facts.change(path, "written")
