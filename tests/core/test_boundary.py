"""Where a log may be cut, and where the newest turn begins, on small conversations."""

from itertools import pairwise

import pytest

from holdfast.core.log.boundary import (
    a_call_stays_with_its_result,
    a_result_is_never_first,
    boundaries,
    calls_of_one_reply_stay_together,
    is_request,
    just_asked,
    pending_from,
    units,
)
from holdfast.model.message import Message, Part, Text, ToolCall, ToolResult


def talk(told: str) -> list[Message]:
    """`u` asks, `s` is a harness in the user's role, `a` answers, `+xy` calls, `-x` results."""
    made: list[Message] = []
    for word in told.split():
        names = word[1:]
        if word.startswith("+"):
            calls: list[Part] = [ToolCall(name, "t", "{}") for name in names]
            made.append(Message("assistant", tuple(calls)))
        elif word.startswith("-"):
            made.append(Message("tool", tuple(ToolResult(name, "x") for name in names)))
        else:
            role = "assistant" if word == "a" else "user"
            made.append(Message(role, (Text("x", scaffold="env" if word == "s" else ""),)))
    return made


@pytest.mark.parametrize(
    ("told", "cuts"),
    [
        ("", [0]), ("u", [0, 1]), ("u a", [0, 1, 2]), ("u a u", [0, 1, 2, 3]),
        ("u +x -x a", [0, 1, 3, 4]), ("u +xy -x -y a", [0, 1, 4, 5]), ("u +xy -x a", [0, 1, 3, 4]),
        ("u +x u -x a", [0, 1, 4, 5]), ("+x -x +y -y", [0, 2, 4]), ("-x u", [0, 1, 2]),
        ("u -x u", [0, 2, 3]), ("u +x", [0, 1, 2]), ("u +x a u", [0, 1, 2, 3, 4]),
        ("u +x -z a", [0, 1, 3, 4]), ("u +x -x u -x a", [0, 1, 5, 6]),
    ],
)  # fmt: skip
def test_a_log_is_cut_between_units_only(told: str, cuts: list[int]) -> None:
    assert boundaries(talk(told)) == cuts
    assert units(talk(told)) == list(pairwise(cuts))


def test_each_rule_forbids_its_own_cuts() -> None:
    made = talk("u +xy -x -y a -q +z u -z")
    assert a_call_stays_with_its_result(made) == {2, 3, 7, 8}
    assert a_result_is_never_first(made) == {2, 3, 5, 8}
    assert calls_of_one_reply_stay_together(made) == {2, 3}
    assert boundaries(made, (a_result_is_never_first,)) == [0, 1, 4, 6, 7, 9]


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("", 0), ("u", 1), ("u +x", 1), ("u +x -x", 3), ("u +xy -x", 1), ("u +xy -x -y", 4),
        ("u +x -x a", 4), ("u +x u", 3), ("+x -x +y", 2), ("u a", 2), ("-x", 1),
    ],
)  # fmt: skip
def test_calls_that_wait_begin_where_no_result_has_come(told: str, at: int) -> None:
    assert pending_from(talk(told)) == at


@pytest.mark.seed("000", 8, 10)
@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("", 0),
        ("u", 0),
        ("u a", 0),
        ("u a u +x -x", 2),
        ("u s", 0),
        ("s", 1),
        ("a s", 2),
        ("s u", 1),
    ],
)
def test_what_was_just_asked_is_the_users_own(told: str, at: int) -> None:
    assert just_asked(talk(told)) == at


def test_a_message_with_any_word_of_the_users_is_a_request() -> None:
    own, harness = Text("x"), Text("y", scaffold="env")
    assert is_request(Message("user", (harness, own)))
    assert not is_request(Message("user", (harness,)))
    assert not is_request(Message("user", ()))
    assert not is_request(Message("assistant", (own,)))
