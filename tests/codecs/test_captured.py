"""Requests captured from the real Claude Code, Codex and Gemini CLI keep every rule, read twice.

`python -m tests.agents` captures them again; tests/agents/clean.py says what is left out of them.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.codecs.anthropic import Anthropic
from holdfast.codecs.gemini import Gemini
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.ports import Codec
from holdfast.providers.catalogue import BuiltIn
from holdfast.testing.strict.refusal import Case, Refusal, first
from holdfast.testing.strict.script import Asked
from holdfast.testing.strict.server import FACES
from holdfast.testing.strict.vault import Vault

CAPTURED = Path(__file__).resolve().parents[1] / "golden" / "captured"
FILES = sorted(CAPTURED.rglob("*.json"))
CODECS: dict[str, Codec] = {
    "anthropic": Anthropic(),
    "openai-responses": ResponsesCodec(),
    "gemini": Gemini(),
}
FOREIGN = re.compile(
    r"/tmp/|/Users/|/home/(?!user)|api[_-]key|bearer |\d{4}-\d\d-\d\dT", re.IGNORECASE
)
named = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")


def read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text("utf-8"))


def bereave(body: dict[str, Any]) -> bool:
    """Whether there was a result of a tool; the last one is gone then."""
    rows = [body.get("input") or []]
    rows += [said["content"] for said in body.get("messages") or []]
    rows += [said["parts"] for said in body.get("contents") or []]
    for row in reversed(rows):
        for index in range(len(row) - 1, -1, -1):
            one = row[index] if isinstance(row, list) else {}
            if str(one.get("type", "")).endswith(("_output", "tool_result")) or (
                "functionResponse" in one
            ):
                row[index] = {"type": "message", "role": "user", "text": "x", "content": "x"}
                return True
    return False


def judged(captured: dict[str, Any]) -> Refusal | None:
    """What the server says to it, signatures from an earlier run taken on trust."""
    face = next(face for face in FACES if face.format == captured["format"])
    asked = Asked(
        format=face.format,
        endpoint=captured["endpoint"],
        model=captured["model"],
        stream=True,
        body=face.read(captured["body"]),
        headers=captured["headers"],
    )
    return first(Case(asked=asked, vault=Vault(), foreign=True), face.rules)


def violations(captured: dict[str, Any]) -> list[str]:
    """What the codec says to it, as its provider's SDK would be given it."""
    codec, body = CODECS[captured["format"]], dict(captured["body"])
    if captured["format"] == "anthropic":
        body["betas"] = captured["headers"]["anthropic-beta"].split(",")
        if captured["endpoint"] == "count":  # A count has no limit for its answer.
            body["max_tokens"] = 1
    if captured["format"] == "gemini":
        body = {"model": captured["model"], "contents": body["contents"], "config": {}}
    profile = BuiltIn().profile(captured["model"])
    return [f"{one.rule}: {one.message}" for one in codec.violations(body, profile)]


def test_there_are_captured_requests_of_every_agent() -> None:
    found = {file.parent.name for file in FILES}
    assert found == {"claude-code", "codex", "gemini-cli"}


@named
def test_a_captured_request_breaks_no_rule_in_either_reading(file: Path) -> None:
    captured = read(file)
    assert judged(captured) is None
    assert violations(captured) == []


@pytest.mark.parametrize(
    "file", [file for file in FILES if bereave(read(file)["body"])], ids=lambda file: file.stem
)
def test_a_captured_request_without_its_last_result_is_refused_in_both(file: Path) -> None:
    captured = read(file)
    assert bereave(captured["body"])
    refusal = judged(captured)
    assert refusal is not None
    assert refusal.rule in {"A1", "O1", "G1"}
    assert any(found.startswith(refusal.rule) for found in violations(captured))


@named
def test_a_captured_request_names_no_person_machine_key_or_time(file: Path) -> None:
    assert FOREIGN.findall(file.read_text("utf-8")) == []
