"""Repair: each thing that a provider refuses, mended and stated."""

import pytest

from holdfast.core.log.boundary import boundaries, just_asked, units
from holdfast.core.window.repair import (
    CONTINUE,
    INTERRUPTED,
    LEFT_OUT,
    Limits,
    can_be_sent,
    mended,
    repair,
)
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


@pytest.mark.seed("000", 32)
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


def test_a_result_left_by_a_cut_does_not_answer_a_later_call_of_its_id() -> None:
    before = (block("user", "hi"), block("tool", ToolResult("a", "old")))
    asked = block("assistant", ToolCall("a", "sh", "{}"))
    made = repair((*before, asked, block("tool", ToolResult("a", "new")))).blocks
    assert told(made)[3] == ("tool", (ToolResult("a", "new"),))
    assert made[:2] == repair(before).blocks


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


def png(width: int, height: int) -> Media:
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return Media("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + size)


def left(blocks: tuple[Block, ...]) -> list[int]:
    """The places of the blocks whose picture a note stands for."""
    return [place for place, made in enumerate(blocks) if "left out" in str(made.parts)]


def test_a_picture_is_measured_as_the_text_it_is_sent_as() -> None:
    shot = Media("image/png", b"x" * 80)
    assert left(repair((block("user", shot),), Limits(image_bytes=100)).blocks) == [0]
    assert left(repair((block("user", shot),), Limits(image_bytes=108)).blocks) == []


def test_of_too_many_pictures_the_oldest_are_left_out_and_it_is_stated() -> None:
    turns = tuple(block("user", f"turn {n}", png(16, 16)) for n in range(110))
    made = repair(turns, Limits(most_images=100))
    assert left(made.blocks) == list(range(10))
    assert [fix.what for fix in made.fixes] == [
        "a picture left out: a request shows 100 at most, and newer ones stay"
    ] * 10
    again = repair(made.blocks, Limits(most_images=100))
    assert again.blocks == made.blocks
    assert again.fixes == ()
    assert left(repair(turns[:100], Limits(most_images=100)).blocks) == []
    assert left(repair(turns).blocks) == []


def test_pictures_beyond_the_limit_go_some_at_a_time_so_that_the_prefix_stays_cached() -> None:
    turns = tuple(block("user", f"turn {n}", png(16, 16)) for n in range(111))
    limits = Limits(most_images=100)
    first, last = repair(turns[:101], limits).blocks, repair(turns[:110], limits).blocks
    assert last[: len(first)] == first
    assert left(repair(turns, limits).blocks) == list(range(20))


def test_pictures_of_tools_count_and_documents_do_not() -> None:
    papers = Media("application/pdf", b"%PDF-1.7")
    asked = block("assistant", ToolCall("a", "sh", "{}"))
    shots = block("tool", ToolResult("a", "shots", media=(png(1, 1), papers, png(2, 2))))
    made = repair((block("user", "hi", papers), asked, shots), Limits(most_images=1))
    (result,) = made.blocks[2].parts
    assert isinstance(result, ToolResult)
    assert result.media == (papers, png(2, 2))
    assert result.output.startswith("shots\n[image/png of 24 bytes left out")
    assert made.blocks[0].parts[1] is papers


def test_a_document_too_large_to_send_is_not_called_a_picture() -> None:
    papers = Media("application/pdf", b"%PDF-1.7" + b"x" * 20)
    asked = block("assistant", ToolCall("a", "sh", "{}"))
    answer = block("tool", ToolResult("a", "here", media=(papers,)))
    made = repair((block("user", "hi", papers), asked, answer), Limits(image_bytes=10))
    assert {fix.what for fix in made.fixes} == {"a document left out: too large to send"}
    assert "picture" not in str(made)


def test_large_pictures_are_left_out_once_there_are_many() -> None:
    limits = Limits(longest_side=8_000, longest_of_many=2_000)
    large, wide = block("user", png(2_001, 10)), block("user", png(10, 8_001))
    small = tuple(block("user", png(2_000, 2_000)) for _ in range(20))
    assert left(repair((large, *small[:19]), limits).blocks) == []
    assert left(repair((large, *small), limits).blocks) == [0]
    assert left(repair((large, wide), limits).blocks) == [1]
    made = repair((large, *small), limits)
    assert "more than 20 pictures" in made.fixes[0].what
    assert repair(made.blocks, limits).fixes == ()


def test_the_quick_look_leaves_every_picture_to_the_repair() -> None:
    shot, limits = Media("image/png", b"x" * 20), Limits(image_bytes=10)
    asked = block("assistant", ToolCall("a", "sh", "{}"))
    answer = block("tool", ToolResult("a", "shot", media=(shot,)))
    for blocks in ((block("user", "see", shot),), (block("user", "hi"), asked, answer)):
        assert not can_be_sent(blocks)
        assert repair(blocks, limits) == mended(blocks, limits)
        assert repair(blocks, limits).fixes


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
