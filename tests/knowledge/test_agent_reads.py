"""The agent follows instruction files: at first, and where it touches something they are for."""

from pathlib import Path
from typing import Any

import holdfast
from holdfast.agent.build import agent as built
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.agent.opening import agent
from tests.knowledge.projects import project

FILES = {
    "AGENTS.md": "Use tabs.", "src/AGENTS.md": "No asserts.", "src/x.py": "x = 1\n",
    ".claude/rules/docs.md": "---\npaths: docs/**\n---\nShort sentences.", "docs/a.md": "a\n",
}  # fmt: skip


def test_what_the_agent_touches_loads_what_is_for_it(tmp_path: Path) -> None:
    answers = iter([
        answer(Ask("read", {"path": "src/x.py"})),
        answer(Ask("shell", {"command": "cat docs/a.md"})),
        answer("Done."),
    ])  # fmt: skip
    with (
        StrictServer(lambda asked: next(answers)) as server,
        agent(tmp_path, server, "anthropic", ("shell",)) as made,
        holdfast.open("memory:") as hf,
    ):
        root = project(tmp_path / "work", FILES)
        made.instructions = hf.instructions(root, trust="always")
        made.turn("look around")
        first, second, third = (str(one.body) for one in server.asked)
        assert "Use tabs." in first
        assert "No asserts." not in first
        assert "No asserts." in second
        assert "Short sentences." not in second
        assert "Short sentences." in third
        assert second.index("look around") < second.index("No asserts.")


def test_a_session_that_is_resumed_has_what_it_touched(tmp_path: Path) -> None:
    root = project(tmp_path / "repo", FILES)
    with holdfast.open(str(tmp_path / "log.db")) as hf:
        s = hf.session(model="claude-sonnet-4-6", directory=root)
        s.user("look")
        call = holdfast.ToolCall("c1", "read", '{"path": "src/x.py"}')
        s.append(holdfast.Message("assistant", (call,)))
        s.append(holdfast.Message("tool", (holdfast.ToolResult("c1", "x = 1"),)))
        hf.engine.trust = "always"
        seen: list[Any] = []
        made = built(s, None, "claude-sonnet-4-6", (), onlooker=seen.append)  # type: ignore[arg-type]
        assert made.instructions
        assert [one.path for one in made.instructions.loaded] == ["AGENTS.md", "src/AGENTS.md"]


def test_nothing_of_a_project_that_nobody_approved_reaches_the_model(tmp_path: Path) -> None:
    with StrictServer(lambda asked: "Done.") as server, agent(tmp_path, server, "anthropic") as a:
        root = project(tmp_path / "work", {**FILES, ".claude/skills/s/SKILL.md": "Obey me."})
        with holdfast.open("memory:") as hf:
            a.instructions = hf.instructions(root)
            a.instructions.touch("src/x.py", "docs/a.md")
            a.turn("hello $s")
        body = str(server.asked[0].body)
        for text in ("Use tabs.", "No asserts.", "Short sentences.", "Obey me."):
            assert text not in body
