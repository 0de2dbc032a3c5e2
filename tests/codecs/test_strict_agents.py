"""What real agents need of the strict server: their encodings, their probes, their newer forms."""

import gzip
import http.client
import json
import sys
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from holdfast.codecs.anthropic import Anthropic
from holdfast.model.profile import Profile
from holdfast.testing import StrictServer
from holdfast.testing.strict import Think, answer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEYS = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}
PER_TURN = {"anthropic-beta": "claude-code-20250219,per-turn-control-2026-07-01"}
ASKED = {"role": "user", "content": "What do the notes say?"}
TOLD = {"role": "system", "content": "Be brief."}
SAID = {"role": "assistant", "content": "They say nothing."}
SET = {"role": "system", "content": [], "output_config": {"effort": "low"}}


def visit(
    server: StrictServer, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """One request on a connection of its own; a body that is no bytes is sent as JSON."""
    connection = http.client.HTTPConnection(urlsplit(server.url()).netloc, timeout=30)
    sent = body if isinstance(body, bytes | Iterator) else json.dumps(body).encode()
    chunked = isinstance(sent, Iterator)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, sent, KEYS | named, encode_chunked=chunked)
    with connection.getresponse() as response:
        read = response.read()
        connection.close()
        return response.status, json.loads(read) if read else {}


def messages(*said: dict[str, Any], model: str = "claude-opus-5-5", **more: Any) -> dict[str, Any]:
    return {"model": model, "max_tokens": 100, "messages": list(said)} | more


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress)],
)
def test_a_packed_body_is_unpacked(encoding: str, pack: Any) -> None:
    body = json.dumps({"model": "gpt-5.2", "input": "Hello."}).encode()
    with StrictServer() as server:
        assert (
            visit(server, "POST", "/v1/responses", pack(body), content_encoding=encoding)[0] == 200
        )
        broken = pack(body)[:-9]
        assert visit(server, "POST", "/v1/responses", broken, content_encoding=encoding)[0] == 400
        assert visit(server, "POST", "/v1/responses", body, content_encoding="odd")[0] == 400
        assert [asked.body["input"] for asked in server.asked] == ["Hello."]


def test_a_body_may_come_in_chunks() -> None:
    body = json.dumps(messages(ASKED)).encode()
    with StrictServer() as server:
        parts = iter([body[:20], body[20:]])
        status, told = visit(
            server, "POST", "/v1/messages?beta=true", parts, transfer_encoding="chunked"
        )
        assert (status, told["content"][0]["text"]) == (200, "Understood.")


def test_who_asks_for_a_socket_is_sent_back_to_http() -> None:
    with StrictServer() as server:
        assert visit(server, "GET", "/v1/responses", upgrade="websocket")[0] == 426
        assert server.missed == []


def test_what_nobody_plays_is_kept_in_mind() -> None:
    with StrictServer() as server:
        assert visit(server, "HEAD", "/")[0] == 404
        assert visit(server, "GET", "/v1/models?limit=1")[0] == 404
        assert visit(server, "POST", "/v1/nowhere", {})[0] == 404
        assert server.missed == ["HEAD /", "GET /v1/models?limit=1", "POST /v1/nowhere"]


def test_thoughts_that_are_not_to_be_shown_come_back_as_their_signatures() -> None:
    thinking = {"type": "adaptive", "display": "omitted"}
    with StrictServer(answer(Think("A secret."), "Hello.")) as server:
        body = messages(ASKED, thinking=thinking)
        told = visit(server, "POST", "/v1/messages", body)[1]["content"]
        assert told[0]["thinking"] == ""
        assert told[0]["signature"]
        reply = {"role": "assistant", "content": told}
        body = messages(ASKED, reply, ASKED, thinking=thinking)
        assert visit(server, "POST", "/v1/messages", body)[0] == 200


def test_openai_compacts_when_it_is_told_to_and_wants_the_result_back_unchanged() -> None:
    given = [{"type": "message", "role": "user", "content": "Hello."}, {"role": "assistant"}]
    with StrictServer("All of it.") as server:
        body = {"model": "gpt-5.2", "input": [*given, {"type": "compaction_trigger"}]}
        [sealed] = visit(server, "POST", "/v1/responses", body)[1]["output"]
        assert sealed["type"] == "compaction"
        body = {"model": "gpt-5.2", "input": [sealed, given[0]]}
        assert visit(server, "POST", "/v1/responses", body)[0] == 200
        broken = {**sealed, "encrypted_content": sealed["encrypted_content"][::-1]}
        body["input"] = [broken]
        assert visit(server, "POST", "/v1/responses", body)[0] == 400
        told = visit(server, "POST", "/v1/responses/compact", {"model": "gpt-5.2", "input": given})
        assert [item["type"] for item in told[1]["output"]] == ["message", "compaction"]
        assert [asked.endpoint for asked in server.asked][-1] == "compact"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([ASKED, TOLD], ""),
        ([ASKED, TOLD, SAID, ASKED], ""),
        ([ASKED, SET, SAID, ASKED, SET], ""),
        ([SET, ASKED], ""),
        ([TOLD, SAID, ASKED], "role 'system' must follow a 'user' message"),
        ([ASKED, SAID, TOLD], "role 'system' must follow a 'user' message"),
        ([ASKED, TOLD, ASKED], "role 'system' must precede an 'assistant' message"),
        ([ASKED, {"role": "system", "content": []}], "all messages must have non-empty content"),
    ],
)
def test_a_model_that_takes_system_messages_takes_them_in_their_place(
    said: list[dict[str, Any]], words: str
) -> None:
    """And the codec's own rules agree."""
    profile = Profile(name="claude-opus-5-5", abilities=frozenset({"system_messages"}))
    found = [one.message for one in Anthropic().violations(messages(*said), profile)]
    assert bool(found) == bool(words)
    assert any(words in message for message in found) or not found
    with StrictServer() as server:
        status, told = visit(server, "POST", "/v1/messages", messages(*said), **PER_TURN)
        assert status == (400 if words else 200), told
        if said[0] is TOLD:
            words = "messages.0: use the top-level 'system' parameter"
        assert words in told.get("error", {}).get("message", "")


def test_how_to_answer_is_set_inside_a_conversation_only_with_its_beta() -> None:
    with StrictServer() as server:
        assert visit(server, "POST", "/v1/messages", messages(ASKED, SET))[0] == 400
        assert visit(server, "POST", "/v1/messages", messages(ASKED, SET), **PER_TURN)[0] == 200


def test_an_older_model_takes_no_system_message() -> None:
    with StrictServer() as server:
        for model in ("claude-opus-4-6", "claude-sonnet-5"):
            body = messages(ASKED, TOLD, model=model)
            assert visit(server, "POST", "/v1/messages", body, **PER_TURN)[0] == 400
