"""The official SDK takes what we encode, and reads a stream as we do."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from holdfast.codecs.anthropic import Anthropic
from holdfast.model.message import Opaque, Reasoning, Text
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Options, Window
from tests.codecs.anthropic_windows import OPTIONS, block, window, windows
from tests.thorough import share

sdk = pytest.importorskip("anthropic")
httpx2 = pytest.importorskip("httpx2")
pydantic = pytest.importorskip("pydantic")

GOLDEN = Path(__file__).parents[1] / "golden" / "anthropic"
MODELLED = ("text", "thinking", "tool_use")
NAMES = ["plain", "tools", "server_tools", "compaction"]


@pytest.fixture(scope="module")
def adapters() -> dict[bool, Any]:
    """What checks a request, by whether it is for the beta call."""
    from anthropic.types import message_create_params as stable
    from anthropic.types.beta import message_create_params as beta

    return {
        False: pydantic.TypeAdapter(stable.MessageCreateParamsBase),
        True: pydantic.TypeAdapter(beta.MessageCreateParamsBase),
    }


def consume(found: Any) -> None:
    """Iterables are checked while they are read, so read everything."""
    if isinstance(found, dict):
        for member in found.values():
            consume(member)
    elif not isinstance(found, str | bytes) and hasattr(found, "__iter__"):
        for item in found:
            consume(item)


@settings(max_examples=share(60))
@given(windows(), OPTIONS)
def test_the_types_of_the_sdk_accept_every_request(
    adapters: dict[bool, Any], window: Window, options: Options
) -> None:
    request = Anthropic().encode(window, Profile(name="claude-test"), options)
    consume(adapters["betas" in request].validate_python(request))


def test_the_types_of_the_sdk_do_refuse(adapters: dict[bool, Any]) -> None:
    broken = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"x": 1}]}]}
    with pytest.raises(pydantic.ValidationError):
        consume(adapters[False].validate_python(broken))


def client(body: bytes, kind: str, seen: list[Any]) -> Any:
    def answer(request: Any) -> Any:
        seen.append((request.url.path, dict(request.headers), json.loads(request.content)))
        return httpx2.Response(200, headers={"content-type": kind}, content=body)

    transport = httpx2.MockTransport(answer)
    return sdk.Anthropic(api_key="none", http_client=httpx2.Client(transport=transport))


@pytest.mark.parametrize("name", NAMES)
def test_the_sdk_reads_the_same_from_a_stream(name: str) -> None:
    body = (GOLDEN / f"{name}.sse").read_bytes()
    with client(body, "text/event-stream", []).beta.messages.stream(
        model="claude-test", max_tokens=9, messages=[{"role": "user", "content": "go"}]
    ) as stream:
        theirs = stream.get_final_message()
    decoder = Anthropic().decoder()
    decoder.feed(body)
    compare(theirs, decoder.close())


@pytest.mark.parametrize("name", NAMES)
def test_the_sdk_reads_the_same_from_a_body(name: str) -> None:
    body = (GOLDEN / f"{name}.json").read_bytes()
    theirs = client(body, "application/json", []).beta.messages.create(
        model="claude-test", max_tokens=9, messages=[{"role": "user", "content": "go"}]
    )
    compare(theirs, Anthropic().decode(body))


def compare(theirs: Any, ours: Reply) -> None:
    said = {kind: [part for part in theirs.content if part.type == kind] for kind in MODELLED}
    assert ours.message.text == "\n".join(part.text for part in said["text"])
    calls = [(part.id, part.name, part.input) for part in said["tool_use"]]
    assert [(call.id, call.name, json.loads(call.input)) for call in ours.message.calls] == calls
    thoughts = [part.thinking for part in said["thinking"]]
    assert [part.text for part in ours.message.parts if isinstance(part, Reasoning)] == thoughts
    kinds = [part.type for part in theirs.content if part.type not in MODELLED]
    assert [part.type for part in ours.message.parts if isinstance(part, Opaque)] == kinds
    told, used = theirs.usage, ours.iterations[-1] if ours.iterations else ours.usage
    assert (used.input, used.output) == (told.input_tokens, told.output_tokens)
    assert (used.cache_read, used.cache_write) == (
        told.cache_read_input_tokens,
        told.cache_creation_input_tokens,
    )
    assert (ours.request, ours.model) == (theirs.id, theirs.model)


CASES = [
    (Options(), None),
    (
        Options(server_edits={"edits": [{"type": "clear_tool_uses_20250919"}]}),
        "context-management-2025-06-27",
    ),
    (
        Options(
            server_edits={"edits": [{"type": "compact_20260112"}]},
            extra={"betas": ["files-api-2025-04-14"]},
        ),
        "context-management-2025-06-27,compact-2026-01-12,files-api-2025-04-14",
    ),
    (Options(server_edits={"type": "summarize"}), "compact-2026-09-04"),
]


@pytest.mark.parametrize(("options", "header"), CASES)
def test_a_request_is_the_arguments_of_the_sdk(options: Options, header: str | None) -> None:
    request = Anthropic().encode(
        window(block("system", Text("be brief")), block("user", Text("go"))),
        Profile(name="claude-test"),
        options,
    )
    seen: list[Any] = []
    speaker = client((GOLDEN / "plain.json").read_bytes(), "application/json", seen)
    messages = speaker.beta.messages if "betas" in request else speaker.messages
    messages.create(**request)
    ((where, headers, sent),) = seen
    assert where == "/v1/messages"
    assert headers.get("anthropic-beta") == header
    assert sent == {key: member for key, member in request.items() if key != "betas"}
