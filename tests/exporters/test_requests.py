"""What is exported as a request is one: the official SDKs send it, the strict server takes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.errors import InvalidRequest
from holdfast.model.log import Summary
from holdfast.model.message import Reasoning, ToolCall, assistant, seal
from holdfast.model.span import Span
from holdfast.testing import StrictServer
from tests.exporters.carried import exported, told
from tests.importers.looking import bring, only
from tests.importers.writing import story

FORMATS = ("anthropic", "openai-responses", "openai-chat")
MODELS = ("claude-sonnet-4-6", "gpt-5.1", "gemini-3.1-pro", "some-model", "")
TOOLS = [{"name": "shell", "description": "", "input_schema": {"type": "object"}}]


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as opened:
        yield opened


def roof(hf: Holdfast, model: str) -> Session:
    session = hf.session(model=model)
    session.user("Mend the roof.")
    session.append(assistant("It is mended."))
    session.append(Summary(covers=(Span(1, 2),), text="A roof was mended."))
    session.user("Paint it.")
    thought = Reasoning("Blue?", seal("nobody", b"{}"))
    session.append(assistant(thought, ToolCall("call:1", "shell", '{"cmd":"paint"}')))
    session.tool_result("call:1", "painted", name="shell")
    session.append(assistant("It is blue."))
    return session


def sent(format: str, request: dict[str, Any]) -> StrictServer:
    """Send it with the SDK that is its provider's own; the server that took it."""
    with StrictServer("Fine.") as server:
        if format == "anthropic":
            with anthropic.Anthropic(base_url=server.url("anthropic"), api_key="k") as client:
                client.messages.create(**request)
        else:
            with openai.OpenAI(base_url=server.url("openai"), api_key="k") as other:
                responses = format == "openai-responses"
                speak = other.responses if responses else other.chat.completions
                speak.create(**request)  # type: ignore[operator]
    return server


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_request_is_taken(format: str, model: str, hf: Holdfast) -> None:
    data, fidelity = told(roof(hf, model), format)
    server = sent(format, json.loads(data))
    assert not server.refused
    assert "A roof was mended." in str(server.asked[-1].body)
    assert "It is blue." in str(server.asked[-1].body)
    assert "1 summary, with the facts that were computed beside the words" in fidelity.carried
    (thought,) = (line for line in fidelity.not_carried if "thought" in line)
    assert thought.startswith("1 thought: a provider takes back only thoughts of its own models")


@pytest.mark.parametrize("format", FORMATS)
def test_an_imported_session_is_one_too(format: str, hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    server = sent(format, json.loads(exported(only(hf), format)))
    assert not server.refused
    assert "What is left?" in str(server.asked[-1].body)


@pytest.mark.parametrize("format", ["anthropic", "claude-code"])
def test_a_thought_that_is_masked_is_not_exported_as_signed(format: str, hf: Holdfast) -> None:
    session = hf.session(model="claude-sonnet-4-6")
    session.user("Mend the roof.")
    signed = seal("anthropic", b'{"signature":"c2lnbmVk"}', "claude-sonnet-4-6")
    key = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
    for thought, call in ((f"The key is {key}", "1"), ("No key", "2")):
        session.append(assistant(Reasoning(thought, signed), ToolCall(call, "shell", "{}")))
        session.tool_result(call, "done", name="shell")
    made = exported(session, format).decode()
    assert made.count("c2lnbmVk") == 1
    assert "No key" in made
    assert key not in made


def test_the_model_is_the_session_s_own_where_it_speaks_the_format(hf: Holdfast) -> None:
    session = roof(hf, "claude-opus-4-6")
    models = [json.loads(exported(session, format))["model"] for format in FORMATS]
    assert models == ["claude-opus-4-6", "gpt-5.1", "gpt-4.1"]
    assert json.loads(exported(session, "openai-chat", model="gpt-5.1"))["model"] == "gpt-5.1"


def test_what_the_last_call_was_given_goes_along(hf: Holdfast) -> None:
    session = hf.session(model="claude-sonnet-4-6")
    session.user("Mend the roof.")
    with (
        StrictServer("It is mended.") as server,
        anthropic.Anthropic(base_url=server.url("anthropic"), api_key="k") as client,
    ):
        window = session.window(system="You mend roofs.", tools=TOOLS)
        session.reply(client.messages.create(**window.request("anthropic")))
    request = json.loads(exported(session, "anthropic"))
    assert "You mend roofs." in str(request["system"])
    assert [tool["name"] for tool in request["tools"]][:1] == ["shell"]
    file = exported(session, "claude-code").decode()
    assert "You mend roofs." not in file
    assert "It is mended." in file


def test_exporting_writes_nothing(hf: Holdfast) -> None:
    session = roof(hf, "gpt-5.1")
    before = session.info
    for format in (*FORMATS, "claude-code", "codex", "portable", "markdown", "html"):
        exported(session, format)
    assert session.refresh() == before


def test_a_session_in_which_nothing_was_said_says_so(hf: Holdfast) -> None:
    session = hf.session(model="gpt-5.1")
    with pytest.raises(InvalidRequest, match="nothing was asked"):
        exported(session, "anthropic")
    assert json.loads(exported(session))["messages"] == []


def test_our_own_importer_reads_what_claude_code_would(hf: Holdfast, tmp_path: Path) -> None:
    session = roof(hf, "claude-sonnet-4-6")
    (tmp_path / "session.jsonl").write_bytes(exported(session, "claude-code"))
    with holdfast.open("memory:") as other:
        (report,) = bring(other, tmp_path / "session.jsonl")
        text = exported(only(other), "markdown").decode()
    assert [one.what for one in report.problems if one.severity == "damaged"] == []
    for words in ("A roof was mended.", "Paint it.", "painted", "It is blue."):
        assert words in text
