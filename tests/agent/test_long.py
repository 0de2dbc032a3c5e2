"""An agent that runs far past its window: every planted rule is still there at the end."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.loop import Agent
from holdfast.agent.permissions import Permissions
from holdfast.agent.tools import Toolbox
from holdfast.engine.plugins import provider
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.agent.opening import small

WHO = {
    "anthropic": ("anthropic", "claude-sonnet-4-6"),
    "openai-responses": ("openai", "gpt-5"),
    "openai-chat": ("openai", "gpt-4o"),
    "gemini": ("google", "gemini-2.5-pro"),
}
RULES = {3: "never touch vendor/legacy_0.c", 9: "always run make check-3 before committing",
         14: "the release tag is v7.3.1-rc2"}  # fmt: skip
"""What the user plants at some turns; the scripted model looks for it in its own window."""


class Model:
    """Works on whatever it is asked, with tools, and notes which rules it can still see."""

    def __init__(self) -> None:
        self.calls = 0
        self.unseen: list[tuple[int, str]] = []

    def __call__(self, asked: Any) -> Any:
        body = str(asked.body)
        self.calls += 1
        turns = [int(n) for n in re.findall(r"turn (\d+):", body)]
        now = max(turns, default=0)
        for planted, rule in RULES.items():
            if planted < now and rule not in body:
                self.unseen.append((now, rule))
        if self.calls % 2:
            return answer("Looking.", Ask("shell", {"command": f"seq {now} {now + 150}"}))
        return answer(f"Turn {now} is done: value_{now} is {now}.")


@pytest.mark.parametrize("format", WHO)
def test_forty_turns_on_a_small_window(tmp_path: Path, format: str) -> None:
    name, named = WHO[format]
    model = Model()
    (tmp_path / "work").mkdir()
    with StrictServer(model) as server, small(tmp_path, 8_192) as hf:
        s = hf.session(model=named, directory=tmp_path / "work")
        with closing(provider(name, format, key="sk-test", url=server.url(name))) as to:
            agent = Agent(s, to, Toolbox(str(tmp_path / "work")), rules=Permissions(allow=("*",)))
            for turn in range(40):
                rule = f" From now on: {RULES[turn]}." if turn in RULES else ""
                assert agent.turn(f"turn {turn}: do step {turn}.{rule}") is not None
        refused = [one.refusal for one in server.asked if one.rule]
        assert refused == []
        assert any(not entry.is_message for entry in s.entries())
        assert model.unseen == []
