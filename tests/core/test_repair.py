"""Repair: each thing that a provider refuses, mended and stated."""

from holdfast.core.boundary import boundaries, just_asked, units
from holdfast.core.repair import CONTINUE, INTERRUPTED, LEFT_OUT, Limits, repair
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    tool,
    user,
)
from holdfast.model.window import Block


def block(role: Role, *parts: Part | str) -> Block:
    made = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Block(section="history", role=role, parts=made, source="b")


def told(blocks: tuple[Block, ...]) -> list[tuple[str, tuple[Part, ...]]]:
    return [(made.role, made.parts) for made in blocks]


def test_a_valid_conversation_is_left_alone() -> None:
    blocks = (
        block("user", "hi"),
        block("assistant", ToolCall("a", "sh", "{}")),
        block("tool", ToolResult("a", "ok")),
    )
    made = repair(blocks)
    assert made.blocks == blocks
    assert made.fixes == ()


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    made = repair(
        (block("user", "hi"), block("assistant", ToolCall("a", "sh", "{}")), block("user", "and?"))
    )
    assert told(made.blocks)[2] == ("tool", (ToolResult("a", INTERRUPTED, True, "sh"),))
    assert "no result" in made.fixes[0].what


def test_results_are_gathered_behind_their_calls() -> None:
    calls = block("assistant", ToolCall("a", "sh", "{}"), ToolCall("b", "sh", "{}"))
    late = (
        block("tool", ToolResult("b", "2")),
        block("user", "wait"),
        block("tool", ToolResult("a", "1")),
    )
    made = repair((block("user", "hi"), calls, *late))
    assert told(made.blocks)[2] == ("tool", (ToolResult("a", "1"), ToolResult("b", "2")))
    assert [role for role, _ in told(made.blocks)] == ["user", "assistant", "tool", "user"]


def test_a_result_whose_call_is_gone_is_told_as_text() -> None:
    made = repair((block("user", "hi"), block("tool", ToolResult("x", "left over"))))
    role, parts = told(made.blocks)[1]
    assert role == "user"
    assert "left over" in parts[0].text  # type: ignore[union-attr]


def test_a_second_result_is_left_out_and_stated() -> None:
    made = repair(
        (
            block("user", "hi"),
            block("assistant", ToolCall("a", "sh", "{}")),
            block("tool", ToolResult("a", "1")),
            block("tool", ToolResult("a", "2")),
        )
    )
    assert told(made.blocks)[2:] == [("tool", (ToolResult("a", "1"),))]
    assert "second result" in made.fixes[0].what


def test_an_id_that_is_used_twice_is_renamed_with_its_result() -> None:
    one, two = block("assistant", ToolCall("a", "sh", "{}")), block("tool", ToolResult("a", "ok"))
    made = repair((block("user", "hi"), one, two, one, block("tool", ToolResult("a", "again"))))
    assert told(made.blocks)[3][1] == (ToolCall("a_2", "sh", "{}"),)


def test_empty_text_and_empty_messages_go() -> None:
    made = repair((block("user", "hi", " \n"), block("assistant", ""), block("user", "there")))
    assert told(made.blocks) == [("user", (Text("hi"),)), ("user", (Text("there"),))]
    assert len(made.fixes) == 2


def test_the_user_speaks_first_and_last() -> None:
    made = repair((block("system", "be"), block("assistant", "hello")))
    assert [b.parts[0].text for b in made.blocks] == ["be", LEFT_OUT, "hello", CONTINUE]  # type: ignore[union-attr]
    kept = repair((block("user", "hi"), block("assistant", "hel")), Limits(prefill=True))
    assert len(kept.blocks) == 2


def test_lone_surrogates_are_replaced_in_the_request_only() -> None:
    original = block("user", "a\ud800b")
    made = repair((original,))
    assert made.blocks[0].parts[0].text == "a\ufffdb"  # type: ignore[union-attr]
    assert original.parts[0].text == "a\ud800b"  # type: ignore[union-attr]
    both = repair((block("user", "\ud83d\ude00"),))
    both.blocks[0].parts[0].text.encode()  # type: ignore[union-attr]


def test_a_picture_too_large_to_send_is_named_instead() -> None:
    large = Media("image/png", b"x" * 20)
    made = repair((block("user", "see", large),), Limits(image_bytes=10))
    assert "20 bytes left out" in made.blocks[0].parts[1].text  # type: ignore[union-attr]
    result = ToolResult("a", "shot", media=(large,))
    made = repair(
        (block("user", "hi"), block("assistant", ToolCall("a", "sh", "{}")), block("tool", result)),
        Limits(image_bytes=10),
    )
    assert "left out" in made.blocks[2].parts[0].output  # type: ignore[union-attr]


def test_a_cut_is_never_between_a_call_and_its_result() -> None:
    talk = [
        user("q"),
        assistant("a", ToolCall("1", "sh", "{}"), ToolCall("2", "sh", "{}")),
        tool(ToolResult("1", "x")),
        tool(ToolResult("2", "y")),
        assistant("done"),
        user("next"),
    ]
    assert boundaries(talk) == [0, 1, 4, 5, 6]
    assert units(talk) == [(0, 1), (1, 4), (4, 5), (5, 6)]
    assert just_asked(talk) == 5
    assert just_asked([*talk, Message("user", (Text("x", scaffold="system-reminder"),))]) == 5
    assert boundaries([]) == [0]
