"""What cannot fit is said with the numbers of the model, naming what takes most."""

import re
from typing import Any

import pytest

from holdfast.errors import OverBudget
from tests.engine.test_counting import opened


def tool(name: str, words: int) -> dict[str, Any]:
    return {
        "name": name,
        "description": "word " * words,
        "input_schema": {"type": "object", "properties": {}},
    }


def numbers(text: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]{2,}", text)]


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-6"])
def test_tools_are_named_like_anything_else(model: str) -> None:
    tools = [tool("small", 10), tool("large", 20_000), tool("larger", 30_000)]
    with opened(8_192) as hf:
        s = hf.session(model=model)
        s.user("hi")
        room = s.preview(compact=False).window.budget.room
        with pytest.raises(OverBudget) as raised:
            s.window(system="Be brief. " * 400, tools=tools)
        said = str(raised.value)
        assert re.search(
            r"largest are tool larger \(3\d,\d{3}\), tool large \(2\d,\d{3}\), system prompt", said
        )
        assert f"do not fit the {room:,} of {model}" in said


def test_the_room_that_is_named_is_the_real_one_and_less_than_what_is_needed() -> None:
    table = "| a | b |\n|---|---|\n" * 700  # takes half as much again as is estimated
    with opened(8_192) as hf:
        s = hf.session(model="gpt-4o")
        s.user("hi")
        room = s.preview(compact=False).window.budget.room
        for system in (table, table * 2, table * 20):
            with pytest.raises(OverBudget) as raised:
                s.window(system=system)
            takes, fits, *_ = numbers(str(raised.value))
            assert fits == room
            assert takes > fits


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-6"])
def test_what_was_asked_is_measured_against_what_is_really_left(model: str) -> None:
    with opened(8_192) as hf:
        s = hf.session(model=model)
        room = s.preview(compact=False).window.budget.room
        s.user("word " * 30_000)
        with pytest.raises(OverBudget, match="what was just asked") as raised:
            s.window()
        takes, left = numbers(str(raised.value))
        assert takes >= 30_000
        assert left <= room
