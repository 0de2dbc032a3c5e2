"""What leaves first where nothing else helps, in exact numbers."""

import pytest

from holdfast.core.compaction.shed import Scale, asking, cut, legal, without_oldest
from holdfast.core.window.truncate import Cap
from holdfast.model.log import Head, PartRef, Pin
from holdfast.model.message import Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.window import Block
from holdfast.testing.factories import entry


def head(
    seq: int, role: str = "user", kinds: str = "text", counts: tuple[int, ...] = (10,)
) -> Head:
    return Head(
        id=f"e{seq}", seq=seq, kind="message", role=role, kinds=tuple(kinds.split()), counts=counts
    )


def test_an_entry_takes_its_parts_and_what_is_around_a_message() -> None:
    assert Scale(Cap()).head(head(1, kinds="text tool_call", counts=(10, 20))) == 34
    assert Scale(Cap()).head(Head(id="m", seq=1, kind="pin", counts=(10,))) == 0
    said = Message("assistant", (Text("a"), ToolCall("c", "x", "{}")))
    assert Scale(Cap()).entry(entry(1, said, counts=(10, 20))) == 34
    assert Scale(Cap()).entry(entry(1, Pin(fact="x"))) == 0


def test_what_is_kept_has_a_frame_around_each_text() -> None:
    scale = Scale(Cap(), kept=(1,), frame=7)
    assert scale.head(head(1, kinds="text text reasoning", counts=(1, 2, 3))) == 24
    assert scale.head(head(2, kinds="text text reasoning", counts=(1, 2, 3))) == 10
    body = Message("user", (Text("a"), Text("b"), Reasoning("c")))
    assert scale.entry(entry(1, body, counts=(1, 2, 3))) == 24
    assert scale.entry(entry(2, body, counts=(1, 2, 3))) == 10


def test_what_is_cleared_takes_a_note_and_a_thought_nothing() -> None:
    refs = [PartRef(1, place) for place in (0, 1, 2)]
    scale = Scale(Cap(), refs, kept=(1,), frame=7)
    kinds = "tool_result reasoning opaque text"
    assert scale.head(head(1, kinds=kinds, counts=(500, 600, 700, 9))) == 40 + 0 + 0 + 9 + 4 + 7
    parts = (ToolResult("c", "x"), Reasoning("y"), Opaque("a", "b", b"{}", "h"), Text("z"))
    body = Message("tool", parts)
    assert scale.entry(entry(1, body, counts=(500, 600, 700, 9))) == 60
    assert scale.entry(entry(2, body, counts=(500, 600, 700, 9))) == 1_813


def test_an_output_takes_no_more_than_it_is_shown() -> None:
    scale = Scale(Cap(tokens=100))
    assert scale.head(head(1, "tool", "tool_result", (99,))) == 103
    assert scale.head(head(1, "tool", "tool_result", (112,))) == 116
    assert scale.head(head(1, "tool", "tool_result", (113,))) == 116
    assert scale.head(head(1, "user", "text", (113,))) == 117


@pytest.mark.parametrize(
    ("roles", "at"), [("", 0), ("user", 0), ("user assistant user tool", 2), ("assistant tool", 2)]
)
def test_the_newest_turn_begins_with_the_users_newest_message(roles: str, at: int) -> None:
    assert asking([head(n, role) for n, role in enumerate(roles.split())]) == at


@pytest.mark.parametrize(
    ("room", "keeps"),
    [(0, 5), (9, 5), (10, 4), (30, 4), (60, 4), (69, 4), (70, 1), (99, 1), (100, 0), (999, 0)],
)
def test_the_oldest_that_fits_stays_and_never_an_answer_without_its_call(
    room: int, keeps: int
) -> None:
    roles = ("user", "assistant", "tool", "tool", "user")
    heads = [head(n, role) for n, role in enumerate(roles)]
    assert cut(heads, (30, 10, 20, 30, 10), room) == keeps


def blocks(*told: tuple[str, str, int]) -> list[Block]:
    made = {
        "u": Message("user", (Text("x"),)), "a": Message("assistant", (Text("y"),)),
        "c": Message("assistant", (ToolCall("c", "r", "{}"),)),
        "r": Message("tool", (ToolResult("c", "z"),)),
    }  # fmt: skip
    return [
        Block(role=made[one].role, parts=made[one].parts, section=section, tokens=tokens)  # type: ignore[arg-type]
        for section, one, tokens in told
    ]


def left(made: list[Block], part: float) -> list[int]:
    return [made.index(one) for one in without_oldest(made, part)]


def test_the_oldest_part_of_a_conversation_leaves_and_nothing_before_it() -> None:
    made = blocks(("system", "u", 900), ("history", "u", 24), ("history", "a", 1),
                  ("history", "u", 26), ("current", "a", 49))  # fmt: skip
    made = [b if n != 3 else Block(role="user", parts=(Text("z"),), section="history", tokens=26)
            for n, b in enumerate(made)]  # fmt: skip
    assert left(made, 0.24) == [0, 2, 3, 4]
    assert left(made, 0.25) == [0, 3, 4]
    assert left(made, 0.26) == [0, 4]
    assert left(made, 0.51) == [0, 4]
    assert left(made, 0.52) == [0]
    assert without_oldest(made) == without_oldest(made, 0.25)


def test_a_call_leaves_with_its_answer() -> None:
    made = blocks(("history", "u", 10), ("history", "c", 10), ("history", "r", 10),
                  ("current", "a", 10))  # fmt: skip
    assert left(made, 0.25) == [1, 2, 3]
    assert left(made, 0.26) == [3]


@pytest.mark.parametrize(("wanted", "at"), [(0, 0), (1, 1), (2, 3), (3, 3), (4, 4), (9, 4)])
def test_a_cut_is_legal_at_or_behind_where_it_is_wanted(wanted: int, at: int) -> None:
    bodies = [
        Message("user", (Text("x"),)), Message("assistant", (ToolCall("c", "r", "{}"),)),
        Message("tool", (ToolResult("c", "z"),)), Message("assistant", (Text("y"),)),
    ]  # fmt: skip
    assert legal([entry(n, body) for n, body in enumerate(bodies, 1)], wanted) == at
