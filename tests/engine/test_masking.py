"""Keys that come in pieces are shown to nobody, and all else is shown."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.engine.bridge import drive
from holdfast.engine.calls.stream import Masked
from holdfast.model.reply import Delta

KEY = "sk-sk-canary-0123"


def shown(*deltas: Delta) -> list[Delta]:
    seen: list[Delta] = []
    masked = Masked(seen.append, (KEY, "another-key"))

    async def hear() -> None:
        for delta in deltas:
            await masked(delta)
        await masked.rest()

    drive(hear())
    return seen


@given(st.integers(1, 6), st.sampled_from(["text", "reasoning", "input"]))
def test_a_key_in_pieces_is_not_shown(size: int, field: str) -> None:
    whole = f"s sk- it is {KEY}, really {KEY[:-1]}!"
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    deltas = [replace(Delta(), **{field: piece}) for piece in pieces]
    told = "".join(getattr(one, field) for one in shown(*deltas))
    assert told == f"s sk- it is [redacted], really {KEY[:-1]}!"


def test_what_comes_next_does_not_overtake_what_waits() -> None:
    calls, given = Delta(tool="shell", index=1), Delta(input="sk", index=1)
    assert shown(Delta(text="ends in sk"), calls, given, Delta(text="b")) == [
        Delta(text="ends in "), Delta(text="sk"), calls, given, Delta(text="b"),
    ]  # fmt: skip
    assert shown(Delta(waiting=2.0)) == [Delta(waiting=2.0)]


def test_what_waits_of_one_piece_is_never_joined_with_another() -> None:
    """Two calls that come side by side, and what is thought beside what is said."""
    key, rest = KEY[:6], KEY[6:]
    assert shown(Delta(input=key, index=0), Delta(input=rest, index=1)) == [
        Delta(input=key, index=0), Delta(input=rest, index=1),
    ]  # fmt: skip
    assert shown(Delta(text=key), Delta(reasoning=rest)) == [
        Delta(text=key), Delta(reasoning=rest),
    ]  # fmt: skip
    assert shown(Delta(input=key, index=1), Delta(input=rest, index=1)) == [
        Delta(input="[redacted]", index=1)
    ]


def test_a_tool_is_named_at_once_even_where_its_input_waits() -> None:
    assert shown(Delta(tool="shell", input="sk-", index=2)) == [
        Delta(tool="shell", index=2), Delta(input="sk-", index=2),
    ]  # fmt: skip


def test_where_there_is_no_key_every_piece_is_told_as_it_is() -> None:
    seen: list[Delta] = []
    masked = Masked(seen.append, ())
    pieces = [Delta(text="sk-"), Delta(text=KEY), Delta(input="sk-", index=1)]
    for piece in pieces:
        drive(masked(piece))
    assert seen == pieces
