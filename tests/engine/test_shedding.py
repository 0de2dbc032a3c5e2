"""Shedding fits whatever stands around what is kept, and however dense what is shown."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.model.log import Summary
from holdfast.model.message import ToolCall, assistant
from tests.agent.opening import small
from tests.properties.histories import opened


@pytest.mark.parametrize("window", [2_048, 4_096])
def test_many_short_messages_that_are_kept_in_tags(window: int) -> None:
    with opened(window) as hf:
        s = hf.session(model="some-model")
        for turn in range(150):
            s.user(f"go on with {turn}")
            assert s.window(system="Be brief.").over == 0
            s.append(assistant("It is a special thing, and it is a little thing. " * 4))
        assert any(isinstance(e.body, Summary) for e in s.entries())


@pytest.mark.parametrize("window", [28_000, 30_000])
def test_a_result_whose_ends_are_denser_than_its_middle(tmp_path: Path, window: int) -> None:
    numbers = "".join(f"{n}\n" for n in range(120_000))

    def silent(question: Any) -> str:
        return ""

    with small(tmp_path, window) as hf:
        s = hf.session(model="gemini-2.5-pro", policy="codex", summariser=silent)
        for turn in range(8):
            s.user(f"turn {turn} " + "words " * 40)
            s.append(assistant("said " * 80))
        s.user("count")
        s.append(assistant("counting", ToolCall("c1", "shell", '{"command":"seq"}')))
        s.tool_result("c1", numbers, name="shell")
        assert s.window().over == 0
