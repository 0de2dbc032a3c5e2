"""What is told of a transcript, word for word, and what a missing or strange field changes of it.

A file is read again and again, by this version and the next; what is told of it must be the same,
or a session is there twice. So it is written down in tests/golden/importers: first all that is told
of an example, then for each field of each kind of line what is told otherwise without it, and with
something else in its place. A change that is meant is taken over with

    python -m tests.importers.test_exact

and its difference read before it is committed.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.plugins import importer, importers
from holdfast.importers.gemini_cli import GeminiCli
from holdfast.importers.opencode import OpenCode
from holdfast.testing.contracts.importer import ImporterContract
from tests.changing import CHANGES, Item, block, changed, compare, item, line, places, said
from tests.importers import (
    test_aider,
    test_claude_code,
    test_codex,
    test_copilot_cli,
    test_gemini_cli,
    test_opencode,
    test_pi,
)
from tests.importers.opencode_writing import Talk, ran, thought

GOLDEN = Path(__file__).parents[1] / "golden" / "importers"
DEEP = 4
"""How deep fields are changed."""
ALIKE = 1
"""How many fields of one name in lines of one kind are changed."""
SHOWN = 4
"""How many lines of a difference are written down; the rest as a hash."""


class Printed(ImporterContract):
    """What Gemini CLI prints, with events that are seldom."""

    def importer(self) -> GeminiCli:
        return GeminiCli()

    def example(self, place: Path) -> Path:
        events: list[dict[str, Any]] = [
            {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"},
            {"type": "message", "role": "user", "content": "List."},
            {"type": "message", "role": "user", "content": "At once."},
            {"type": "message", "role": "assistant", "content": "I ", "delta": True},
            {"type": "message", "role": "assistant", "content": "list.", "delta": True},
            {"type": "tool_use", "tool_name": "ls", "tool_id": "t1", "parameters": {"path": "."}},
            {"type": "tool_use", "tool_id": "t2"},
            {"type": "tool_use", "tool_name": "no id"},
            {"type": "tool_result", "tool_id": "t1", "status": "success", "output": "a.py"},
            {"type": "tool_result", "tool_id": "t2", "status": "error", "error": {"message": "no"}},
            {"type": "message", "role": "assistant", "content": ""},
            {"type": "error", "severity": "warning", "message": "slow"},
            {"type": "hologram"},
            {"type": "hologram", "again": 1},
            {"untyped": 1},
            {"type": "message", "role": "assistant", "content": "Done.", "delta": True},
            {"type": "result", "stats": {"input_tokens": 90, "output_tokens": 7, "cached": 30}},
            {"type": "message", "role": "user", "content": "More."},
            {"type": "message", "role": "assistant", "content": "No."},
            {"type": "result", "stats": {"input_tokens": 5, "output_tokens": 1, "cached": 9}},
            {"type": "result", "stats": {}},
            {"type": "message", "role": "assistant", "content": "Open", "delta": True},
        ]
        path = place / "kept" / "printed" / "out.jsonl"  # its last directories are told
        path.parent.mkdir(parents=True)
        stamped = (
            {**one, "timestamp": f"2026-04-23T12:53:{n:02d}Z"} for n, one in enumerate(events)
        )
        path.write_text("".join(f"{json.dumps(one)}\n" for one in stamped))
        return path


class Reverted(ImporterContract):
    """A subagent of OpenCode's that was reverted, with compactions that came to nothing."""

    def importer(self) -> OpenCode:
        return OpenCode()

    def example(self, place: Path) -> Path:
        talk = Talk(parentID="ses_parent", model={"id": "m"})
        picture = {"mime": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="}
        step: dict[str, Any] = {"type": "step-start"}
        failed = {"status": "error", "output": None, "error": "bad"}
        talk.user("Look.", {"type": "text", "text": "psst", "ignored": True},
                  {"type": "file", **picture}, {"type": "subtask", "prompt": "Look there."},
                  {"type": "hologram"})  # fmt: skip
        talk.reply(
            thought("sealed", copilot={"x": 1}), thought(""), ran("c1", "a", metadata={"exit": 0}),
            step, "And?", ran("", None, status="running"),
            ran("c2", time={"start": 5, "compacted": 90}, **failed), step,
            ran("c3", "b", attachments=[{**picture, "filename": "p.png"}, {"mime": "x"}],
                time={"compacted": 80}), providerID="opencode", finish="length",
        )  # fmt: skip
        talk.user({"type": "compaction", "auto": False})
        talk.user("Not that.")
        talk.user({"type": "compaction", "auto": False})
        talk.reply("", summary=True)
        talk.reply("Cut off", summary=True, error={"name": "APIError"})
        talk.reply("The end.", summary=True, tokens={})
        talk.reply(providerID="google-vertex", cost=-1, error={"name": "MessageAbortedError"})
        talk.reply(
            "Sealed.", providerID="other", cost="much", finish="tool-calls", tokens={"input": 1}
        )
        last = talk.user("Go back.")
        talk.reply("Why?", cost=2_000_000, time={"created": 5})
        talk.info["revert"] = {"messageID": last, "partID": "prt_1"}
        return talk.export(place / "a" / "b")


EXAMPLES: dict[str, type[ImporterContract]] = {
    "aider": test_aider.TestAider,
    "claude-code": test_claude_code.TestContract,
    "codex": test_codex.TestContract,
    "codex-prompts": test_codex.TestPrompts,
    "codex-old": test_codex.TestOld,
    "copilot-cli": test_copilot_cli.TestCopilotCli,
    "gemini-cli": test_gemini_cli.TestLines,
    "gemini-cli-document": test_gemini_cli.TestDocument,
    "gemini-cli-printed": Printed,
    "opencode-export": test_opencode.TestExport,
    "opencode-reverted": Reverted,
    "opencode-tree": test_opencode.TestTree,
    "opencode-database": test_opencode.TestDatabase,
    "pi": test_pi.TestPi,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_told_of_an_example_never_changes(name: str, tmp_path: Path) -> None:
    found = described(EXAMPLES[name](), tmp_path)
    compare(GOLDEN / f"{name}.txt", found, "tests.importers.test_exact")


FILES = (
    "a.jsonl", "a.ndjson", "a.json", "a.md", "a.db", "opencode.db", "rollout-1.jsonl",
    "rollout-1.json", "x/rollout-2.jsonl", "session-1.json", "session-1.jsonl",
    "events.jsonl", "x/events.jsonl", ".aider.chat.history.md", "x/.aider.chat.history.md",
    "aider.chat.history.md", "agent-1.jsonl",
    "storage/session/p/ses_1.json", "storage/message/s/msg_1.json", "chats/session-1.json",
    "ses_1.json", "logs.json", "A.JSONL", "jsonl", "",
)  # fmt: skip


def test_which_files_are_an_importers_is_as_written_down(tmp_path: Path) -> None:
    compare(GOLDEN / "files.txt", taken(tmp_path), "tests.importers.test_exact")


def taken(place: Path) -> str:
    """Where each importer looks, which names it takes, and which beginnings it knows."""
    heads: dict[str, bytes] = {"nothing": b"", "words": b"# Words\n", "a list": b"[1]\n"}
    for name, contract in EXAMPLES.items():
        (place / name).mkdir()
        heads[name] = contract().example(place / name).read_bytes()[:4096]
    lines: list[str] = []
    for name in sorted(importers()):
        made = importer(name)
        names = [file for file in FILES if made.matches_name(file)]
        known = [kind for kind, head in heads.items() if made.recognises(head, names[0])]
        lines.append(f"{name}: {made.reach} {made.default_paths()} takes {names} knows {known}\n")
    return "".join(lines)


def described(contract: ImporterContract, place: Path) -> str:
    """What is told of an example, and of the example with one field changed at a time."""
    path = contract.example(place)
    before = path.read_bytes()
    whole = _told(contract, path, place)
    pieces = [*map(line, whole)]
    for title, data in _changes(path, before):
        path.write_bytes(data)
        pieces.append(block(title, whole, _told(contract, path, place), SHOWN))
    return "\n".join(pieces) + "\n"


def _told(contract: ImporterContract, path: Path, place: Path) -> list[Item]:
    return [item(one, str(place)) for one in contract.told(path)]


# Changes, each with what is changed.


def _changes(path: Path, before: bytes) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".jsonl":
        return _of_lines(before.decode().splitlines())
    if path.suffix == ".json":
        return _of_document(json.loads(before))
    return _of_text(before.decode().splitlines()) if path.suffix == ".md" else iter(())


def _of_lines(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    seen: Counter[str] = Counter()

    def without(nth: int, *instead: str) -> bytes:
        return "\n".join([*lines[:nth], *instead, *lines[nth + 1 :], ""]).encode()

    for nth, one in enumerate(lines):
        yield f"line {nth + 1} is missing", without(nth)
        yield f"line {nth + 1} is there twice", without(nth, one, one)
        record = json.loads(one)
        for place in places(record, DEEP):
            known = f"{_kind(record)} {[part for part in place if isinstance(part, str)]}"
            seen[known] += 1
            if seen[known] <= ALIKE:
                for word, change in CHANGES.items():
                    made = changed(record, place, change)
                    yield f"line {nth + 1} {word} {said(place)}", without(nth, json.dumps(made))


def _kind(record: Any) -> str:
    fields: dict[str, Any] = record if isinstance(record, dict) else {}
    inner = fields.get("payload")
    kinds = [fields.get("type"), inner.get("type") if isinstance(inner, dict) else ""]
    return " ".join(map(str, kinds))


def _of_document(document: Any) -> Iterator[tuple[str, bytes]]:
    seen: Counter[str] = Counter()
    for place in places(document, DEEP + 2):
        known = str([part for part in place if isinstance(part, str)])
        seen[known] += 1
        if seen[known] <= ALIKE:
            for word, change in CHANGES.items():
                made = changed(document, place, change)
                yield f"{word} {said(place)}", json.dumps(made).encode()


def _of_text(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    for nth, one in enumerate(lines):
        for word, instead in {"is missing": (), "is there twice": (one, one)}.items():
            text = "\n".join([*lines[:nth], *instead, *lines[nth + 1 :], ""])
            yield f"line {nth + 1} {word}", text.encode()


def main() -> None:
    """Write down what is told now."""
    for name, contract in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "a" / "place"
            place.mkdir(parents=True)
            text = described(contract(), place)
        (GOLDEN / f"{name}.txt").write_text(text, "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        (GOLDEN / "files.txt").write_text(taken(Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
