"""Which windows need no repair, case by case; in doubt they are repaired."""

import pytest

from holdfast.core.window.repair import can_be_sent, has_utf8
from holdfast.model.message import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.window import Block

LONE = "\ud800"
ASK = Message("user", (Text("go"),))
SAID = Message("assistant", (Text("done"),))
CALL = Message("assistant", (Text("look"), ToolCall("a", "read", "{}"), ToolCall("b", "ls", "{}")))
ANSWER = Message("tool", (ToolResult("a", "x"), ToolResult("b", "y")))
PICTURE = Media(type="image/png", data=b"x")
SHOWN = ToolResult("a", "x", media=(PICTURE,))


def sendable(*messages: Message, prefill: bool = False) -> bool:
    blocks = [
        Block(role=one.role, parts=one.parts, section="history", tokens=1) for one in messages
    ]
    return can_be_sent(blocks, prefill=prefill)


def test_words_and_calls_that_are_answered_right_behind_can_be_sent() -> None:
    assert sendable(ASK)
    assert sendable(ASK, SAID, ASK)
    assert sendable(ASK, CALL, ANSWER)
    assert sendable(ASK, CALL, ANSWER, SAID, ASK)
    assert sendable(Message("system", (Text("be brief"),)), ASK)
    assert sendable(Message("developer", (Text("be brief"),)), ASK)
    assert sendable(ASK, Message("assistant", (Reasoning("hm"), Text("so"))), ASK)


@pytest.mark.parametrize(("prefill", "fits"), [(False, False), (True, True)])
def test_the_assistant_has_the_last_word_only_where_the_model_takes_that(
    prefill: bool, fits: bool
) -> None:
    assert sendable(ASK, SAID, prefill=prefill) == fits
    system = Message("system", (Text("x"),))
    assert sendable(ASK, SAID, system, prefill=prefill) == fits


@pytest.mark.parametrize(
    "messages",
    [
        (SAID, ASK), (ASK, CALL), (ASK, CALL, ASK), (ASK, ANSWER), (ASK, CALL, ANSWER, ANSWER),
        (ASK, CALL, Message("tool", ANSWER.parts[::-1])),
        (ASK, CALL, Message("tool", ANSWER.parts[:1])),
        (ASK, CALL, Message("user", ANSWER.parts)),
        (ASK, CALL, Message("tool", (*ANSWER.parts, ToolResult("c", "z")))),
        (ASK, CALL, ANSWER, CALL, ANSWER), (Message("user", ()), ASK),
        (ASK, CALL, Message("tool", (ToolResult("a", LONE), ToolResult("b", "y")))),
        (ASK, CALL, Message("tool", (ToolResult("a", "x", name=LONE), ToolResult("b", "y")))),
        (ASK, CALL, Message("tool", (SHOWN, ToolResult("b", "y")))),
        (ASK, Message("assistant", (ToolCall("a", "r", "{}"), ToolCall("a", "r", "{}"))), ANSWER),
        *((ASK, Message("assistant", (call,)), Message("tool", (ToolResult(call.id, "x"),)))
          for call in (ToolCall("", "r", "{}"), ToolCall(LONE, "r", "{}"),
                       ToolCall("a", LONE, "{}"), ToolCall("a", "r", LONE))),
        *((Message("user", (part,)),) for part in (
            Text(""), Text(" \n"), Text(LONE), Reasoning(LONE), PICTURE,
            Opaque("a", "b", b"{}", "h"), ToolResult("a", "x"))),
    ],
)  # fmt: skip
def test_everything_else_is_repaired(messages: tuple[Message, ...]) -> None:
    assert not sendable(*messages, prefill=True)


@pytest.mark.parametrize(
    ("text", "has"),
    [("", True), ("a", True), ("é", True), ("😀", True), (LONE, False), ("aé\udfff", False)],
)
def test_a_lone_surrogate_has_no_utf8(text: str, has: bool) -> None:
    assert has_utf8(text) == has
