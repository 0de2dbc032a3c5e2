"""Pieces of other programs' records, one by one: what each becomes, and what becomes nothing."""

import base64
import json
from typing import Any

import pytest

from holdfast.importers import values
from holdfast.importers.claude_code import blocks
from holdfast.importers.codex.content import answered, is_failure, joined, spoken
from holdfast.importers.gemini_cli.turns import _answers
from holdfast.importers.pi import _part, _result, _shown
from holdfast.model.message import Media, Message, Reasoning, Text, ToolCall, ToolResult

LARGEST = 9_007_199_254_740_992
"""What is promised, in numbers: these tests stand at its edges."""

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\x02\0\0\0"
).decode()
PICTURE = Media(type="image/png", data=base64.b64decode(PIXEL), width=7, height=5)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0), (1, 1), (-1, 0), (1.9, 1), (-0.5, 0), (True, 0), ("1", 0), (None, 0),
        (LARGEST - 1, LARGEST - 1), (LARGEST, 0), (float(LARGEST), 0), (float("nan"), 0),
    ],
)  # fmt: skip
def test_a_count_is_a_number_in_bounds(value: Any, number: int) -> None:
    assert values.count(value) == number


@pytest.mark.parametrize(
    ("dollars", "found"),
    [
        (1, 10**9), (0.5, 5 * 10**8), (0, None), (-1, None), (True, None), ("1", None),
        (999_999, 999_999 * 10**9), (1_000_000, None), (1e-9, 1), (None, None),
    ],
)  # fmt: skip
def test_an_amount_is_in_billionths(dollars: Any, found: int | None) -> None:
    assert values.billionths(dollars) == found


def test_values_of_another_type_are_nothing() -> None:
    assert [values.text(one) for one in ("a", 1, None, ["a"])] == ["a", "", "", ""]
    assert [values.table(one) for one in ({"a": 1}, [], None)] == [{"a": 1}, {}, {}]
    assert [values.rows(one) for one in ([1], {}, None)] == [[1], [], []]
    assert [values.written(one) for one in ("x", {"a": 1}, None, {})] == [
        "x",
        '{"a":1}',
        "{}",
        "{}",
    ]


def test_a_picture_is_there_with_its_bytes_and_its_size() -> None:
    assert values.picture("image/png", PIXEL) == PICTURE
    assert values.picture("image/png", PIXEL, "a.png") == Media(
        type="image/png", data=PICTURE.data, name="a.png", width=7, height=5
    )
    unsized = values.picture("application/pdf", "JVBERg==")
    assert unsized == Media(type="application/pdf", data=b"%PDF", width=0, height=0)
    assert values.picture("image/png", "") is None
    assert values.picture("image/png", "not base64!") is None


# Codex.


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ("all well", False),
        ('{"output": "x", "metadata": {"exit_code": 1}}', True),
        ('{"output":"x","metadata":{"exit_code":1}}', True),
        ('{"output":"x","metadata":{"exit_code":-1}}', True),
        ('{"output":"x","metadata":{"exit_code":0}}', False),
        ('{"output":"x","metadata":{"exit_code":"1"}}', False),
        ('{"output":"Exit code: 1","metadata":{}}', False),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nerror", False),
        ("Exit code: 1\nWall time: 1 seconds\nOutput:\nfine", True),
        ("Exit code: 127\nOutput:\n", True),
        ("Exit code: 0\nOutput:\nExit code: 1", False),
        ("failed to parse function arguments: x", True),
        ("command timed out after 10 s", True),
        ("a test failed to parse function arguments", False),
        ("", False),
    ],
)  # fmt: skip
def test_a_codex_answer_says_whether_it_failed(answer: str, failed: bool) -> None:
    assert is_failure(answer) == failed


def test_pieces_of_a_codex_answer_stand_on_lines_of_their_own() -> None:
    assert [joined(one) for one in ([], ["a"], ["a", "b"], ["a\n", "b"], ["", "b"])] == [
        "", "a", "a\nb", "a\nb", "b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "result"),
    [
        ({"output": "so"}, ToolResult("c", "so", name="sh")),
        ({"output": None}, ToolResult("c", "", name="sh")),
        ({"output": ["a", {"text": "b"}, {"type": "x"}]}, ToolResult("c", "a\nb", name="sh")),
        ({"output": {"content": "so"}}, ToolResult("c", "so", name="sh")),
        ({"output": {"content": "so", "success": True}}, ToolResult("c", "so", name="sh")),
        ({"output": {"content": "so", "success": False}}, ToolResult("c", "so", True, "sh")),
        ({"output": ["fine", "Exit code: 2\nOutput:\n"]},
         ToolResult("c", "fine\nExit code: 2\nOutput:\n", True, "sh")),
        ({"output": [{"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}]},
         ToolResult("c", "", name="sh", media=(PICTURE,))),
        ({"type": "tool_search_output", "tools": [{"a": 1}]},
         ToolResult("c", '{"tools":[{"a":1}]}', name="sh")),
    ],
)  # fmt: skip
def test_what_a_codex_tool_answered(payload: dict[str, Any], result: ToolResult) -> None:
    assert answered(payload, "c", "sh") == result


def test_what_somebody_said_in_codex() -> None:
    pieces = [
        {"type": "input_text", "text": "hi"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
        {"type": "input_text", "text": ""}, {"type": "other", "text": "no"}, 7,
    ]  # fmt: skip
    assert spoken(pieces, human=True) == [Text("hi"), PICTURE]
    assert spoken("hi", human=False) == [Text("hi")]
    told = "<environment_context>\n<cwd>/w</cwd>\n</environment_context>"
    assert spoken(told, human=False) == [Text(told, scaffold="environment_context")]
    assert spoken(told, human=True) == [Text(told)]
    assert spoken(None, human=True) == []


# Claude Code.

SOURCE = {"type": "base64", "media_type": "image/png", "data": PIXEL}


@pytest.mark.parametrize(
    ("block", "made"),
    [
        ({"source": SOURCE}, PICTURE),
        ({"source": SOURCE, "title": "t"},
         Media(type="image/png", data=PICTURE.data, name="t", width=7, height=5)),
        ({"source": {**SOURCE, "data": ""}}, None),
        ({"source": {**SOURCE, "data": "?"}}, None),
        ({"source": {"type": "url", "url": "https://a/b"}},
         Media(type="image/png", url="https://a/b")),
        ({"source": {"type": "url", "url": "https://a/b", "media_type": "image/gif"}, "title": "t"},
         Media(type="image/gif", url="https://a/b", name="t")),
        ({"source": {"type": "url", "url": ""}}, None),
        ({"source": {"type": "text", "data": "words"}}, Media(type="text/plain", data=b"words")),
        ({"source": {"type": "text", "data": "w", "media_type": "text/x"}, "title": "t"},
         Media(type="text/x", data=b"w", name="t")),
        ({"source": "x"}, None), ({}, None),
    ],
)  # fmt: skip
def test_a_picture_or_document_of_claude_code(block: dict[str, Any], made: Media | None) -> None:
    assert blocks.media(block) == made


@pytest.mark.parametrize(
    ("block", "made"),
    [
        ({"tool_use_id": "c", "content": "so"}, ToolResult("c", "so")),
        ({"tool_use_id": "c", "content": "no", "is_error": True}, ToolResult("c", "no", True)),
        ({"tool_use_id": "c", "content": "so", "is_error": "true"}, ToolResult("c", "so")),
        ({"tool_use_id": "c", "content": "so", "is_error": False}, ToolResult("c", "so")),
        ({"content": "so"}, ToolResult("asked", "so")),
        ({"tool_use_id": "c"}, ToolResult("c", "")),
        ({"tool_use_id": "c", "content": [{"text": "a"}, {"text": "b"}, 3, {"text": 4}]},
         ToolResult("c", "a\nb")),
        ({"tool_use_id": "c", "content": [{"type": "image", "source": SOURCE}, {"text": "a"}]},
         ToolResult("c", "a", media=(PICTURE,))),
    ],
)  # fmt: skip
def test_what_a_tool_answered_claude_code(block: dict[str, Any], made: ToolResult) -> None:
    assert blocks.result(block, "asked") == made


def test_what_is_shown_of_a_block_of_claude_code() -> None:
    assert blocks.shown({"type": "text", "text": "a"}, False) == [Text("a")]
    assert blocks.shown({"type": "text", "text": "a"}, True) == [
        Text("a", scaffold="system-reminder")
    ]
    assert blocks.shown({"type": "image", "source": SOURCE}, False) == [PICTURE]
    assert blocks.shown({"type": "document", "source": SOURCE}, False) == [PICTURE]
    assert blocks.shown({"type": "other", "source": SOURCE}, False) == []
    assert blocks.shown({"type": "text", "text": 1}, False) == []


# Gemini CLI.


def answer(response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"response": response, **more}}


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([answer({"output": "so"})], (["so"], [], False)),
        ([answer({"error": "no"})], (["no"], [], True)),
        ([answer({"error": "no"}), answer({"output": "so"})], (["no", "so"], [], True)),
        ([answer({"a": 1})], (['{"a":1}'], [], False)),
        ([answer({"output": {"a": 1}})], (['{"a":1}'], [], False)),
        ([answer("words")], (["words"], [], False)),
        ([{"functionResponse": {"id": "x"}}], (["null"], [], False)),
        ([{"text": "beside"}], (["beside"], [], False)),
        ([{"text": ""}, {}, 7], ([], [], False)),
        ([{"inlineData": {"mimeType": "image/png", "data": PIXEL}}], ([], [PICTURE], False)),
        ([answer({"output": "so"},
                 parts=[{"inlineData": {"mimeType": "image/png", "data": PIXEL}}, {"text": "x"}])],
         (["so"], [PICTURE], False)),
    ],
)  # fmt: skip
def test_what_tools_answered_gemini_cli(pieces: list[Any], found: Any) -> None:
    assert _answers(pieces) == found


# Pi.

IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("content", "parts", "plain"),
    [
        ("hi", [Text("hi", scaffold="s")], True), ("", [], True), (None, [], False), ([], [], True),
        ([{"type": "text", "text": "hi"}], [Text("hi", scaffold="s")], True),
        ([{"type": "text", "text": "hi", "more": 1}], [Text("hi", scaffold="s")], False),
        ([{"type": "text", "text": 1}], [], False),
        ([IMAGE], [PICTURE], True), ([{**IMAGE, "more": 1}], [PICTURE], False),
        ([{"type": "image", "data": PIXEL}], [PICTURE], False),
        ([{**IMAGE, "data": "?"}], [], False), ([{**IMAGE, "type": "other"}], [], False),
        ([{"type": "text", "text": "hi", "more": 1}, {"type": "text", "text": "ho"}],
         [Text("hi", scaffold="s"), Text("ho", scaffold="s")], False),
    ],
)  # fmt: skip
def test_words_and_pictures_of_pi(content: Any, parts: list[Any], plain: bool) -> None:
    assert _shown(content, "s") == (parts, plain)


def test_what_a_tool_answered_pi() -> None:
    told = {
        "toolCallId": "c",
        "toolName": "read",
        "content": [{"type": "text", "text": "a"}, IMAGE],
    }
    made = ToolResult("c", "a", name="read", media=(PICTURE,))
    assert _result(told) == (Message("tool", (made,)), True)
    failed = {**told, "isError": True, "content": [{"type": "text", "text": t} for t in "ab"]}
    assert _result(failed) == (
        Message("tool", (ToolResult("c", "a\nb", True, "read"),)), False,
    )  # fmt: skip
    assert _result({**told, "toolCallId": ""}) == (None, True)
    assert json.loads(json.dumps(told)) == told


CALLED = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a"}}


@pytest.mark.parametrize(
    ("block", "part", "whole"),
    [
        ({"type": "text", "text": "a"}, Text("a"), True),
        ({"type": "text", "text": "a", "more": 1}, Text("a"), False),
        ({"type": "text", "text": ""}, None, False),
        ({"type": "thinking", "thinking": "hm"}, Reasoning("hm"), True),
        ({"type": "thinking", "thinking": "hm", "more": 1}, Reasoning("hm"), False),
        ({"type": "thinking", "thinking": ""}, None, True),
        ({"type": "thinking"}, None, False),
        (CALLED, ToolCall("c", "read", '{"path":"a"}'), True),
        ({**CALLED, "more": 1}, ToolCall("c", "read", '{"path":"a"}'), False),
        ({**CALLED, "arguments": '{"x": 1}'}, ToolCall("c", "read", '{"x": 1}'), True),
        ({**CALLED, "id": ""}, None, False), ({**CALLED, "name": None}, None, False),
        ({"type": "other", "text": "a"}, None, False), ({}, None, False),
    ],
)  # fmt: skip
def test_what_a_model_said_in_pi(block: dict[str, Any], part: Any, whole: bool) -> None:
    assert _part(block, "openai", "m") == (part, whole)


REDACTED = base64.b64encode(base64.b64decode("REDACTED")).decode()


def test_what_a_redaction_left_of_a_picture_is_no_picture() -> None:
    """The word itself is valid base64."""
    assert REDACTED == "REDACTED"
    source = {"type": "base64", "media_type": "image/png", "data": REDACTED}
    assert blocks.media({"type": "image", "source": source}) is None
    assert values.picture("image/jpeg", REDACTED) is None
    url = f"data:image/webp;base64,{REDACTED}"
    assert spoken([{"type": "input_image", "image_url": url}], human=True) == []


def test_what_nobody_can_look_into_is_what_its_media_type_says() -> None:
    made = values.picture("application/pdf", REDACTED)
    assert made is not None
    assert made.data == base64.b64decode(REDACTED)
