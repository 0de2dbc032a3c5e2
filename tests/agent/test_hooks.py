"""Hooks: the user's own commands at the start, at a tool's output, around a compaction."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.events import AgentEvent
from holdfast.agent.hooks import Hooks, hooks
from holdfast.errors import InvalidRequest
from holdfast.model.log import Summary
from holdfast.model.message import Message, ToolCall, ToolResult, assistant
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer, in_order
from tests.agent.opening import agent, results

CANARY = "sk-canary-0123456789"


def configured(tmp_path: Path, **events: str) -> Hooks:
    """Hooks of one Python program for each event; it finds what it is told in `told`."""
    lines: list[str] = []
    for event, program in events.items():
        whole = f"import json, sys, os\ntold = json.load(sys.stdin)\n{program}"
        command = f"{shlex.quote(sys.executable)} -c {shlex.quote(whole)}"
        lines += [f"[[{event}]]", f"command = {json.dumps(command)}", "seconds = 20"]
    file = tmp_path / "hooks.toml"
    file.write_text("\n".join(lines))
    (tmp_path / "work").mkdir(exist_ok=True)
    return hooks(str(tmp_path / "work"), file)


@pytest.mark.seed("004", 210)
def test_what_is_said_at_the_start_is_context(tmp_path: Path) -> None:
    made = configured(tmp_path, session_start="print('branch: main', told['how'])")
    with StrictServer("fine") as server, agent(tmp_path, server, hooks=made) as at_work:
        at_work.turn("hello")
        at_work.turn("again")
        body = str(server.asked[-1].body)
        assert body.count("<system-reminder>") == 1
        assert "branch: main new" in body
        first = next(iter(at_work.session.entries())).body
        assert isinstance(first, Message)
        assert first.parts[0].scaffold == "system-reminder"  # type: ignore[union-attr]
        assert not [one.rule for one in server.asked if one.rule]


@pytest.mark.seed("001", 112)
@pytest.mark.parametrize(
    ("program", "output"),
    [
        ("print(json.dumps({'output': told['output'].replace('secret', '***')}))", "a *** b\n"),
        ("print(json.dumps({'note': 'seen by ' + told['tool']}))", "a secret b\n[seen by read]"),
        ("print('plain words')", "a secret b\n[plain words]"),
        ("pass", "a secret b\n"),
        ("print('lost'); sys.exit('no')", "a secret b\n"),
        ("os.kill(os.getpid(), 9)", "a secret b\n"),
    ],
)
def test_an_output_is_replaced_noted_or_left(tmp_path: Path, program: str, output: str) -> None:
    script = in_order(answer(Ask("read", {"path": "a.txt"})), answer("Read."))
    made = configured(tmp_path, tool_output=program)
    (tmp_path / "work" / "a.txt").write_text("a secret b\n")
    seen: list[AgentEvent] = []
    with (
        StrictServer(script) as server,
        agent(tmp_path, server, hooks=made, onlooker=seen.append) as at_work,
    ):
        at_work.turn("read it")
        assert [one.output for one in results(at_work)] == [output]
    wrong = [one.words for one in seen if one.kind == "warning"]
    assert bool(wrong) == ("exit" in program or "kill" in program)
    assert all("it changed nothing" in one for one in wrong)


def test_a_slow_hook_is_stopped_and_the_output_stays(tmp_path: Path) -> None:
    file = tmp_path / "hooks.toml"
    file.write_text('[[tool_output]]\ncommand = "sleep 60"\nseconds = 0.2\ntools = ["re*"]\n')
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("here\n")
    asked = (Ask("read", {"path": "a.txt"}), Ask("list", {}))
    script = in_order(answer(*asked), answer("Read."))
    seen: list[AgentEvent] = []
    made = hooks(str(tmp_path / "work"), file)
    with (
        StrictServer(script) as server,
        agent(tmp_path, server, hooks=made, onlooker=seen.append) as at_work,
    ):
        at_work.turn("read it")
        assert [one.output for one in results(at_work)] == ["here\n", "a.txt"]
    (wrong,) = [one.words for one in seen if one.kind == "warning"]
    assert "stopped after 0.2 s" in wrong


def compacting(tmp_path: Path, made: Hooks, seen: list[AgentEvent]) -> Any:
    with (
        StrictServer("fine") as server,
        agent(tmp_path, server, hooks=made, onlooker=seen.append) as at_work,
    ):
        for n in range(30):
            at_work.session.user(f"question {n} " + "word " * 200)
            at_work.session.append(assistant(f"answer {n} " + "word " * 200))
        at_work.session.user("and now?")
        plan = at_work.session.plan()
        at_work.session.apply(plan)
        bodies = [entry.body for entry in at_work.session.entries()]
        return next(body for body in bodies if isinstance(body, Summary))


def test_a_compaction_is_told_before_and_after(tmp_path: Path) -> None:
    made = configured(
        tmp_path,
        before_compaction="print('dwell on', told['step'])",
        after_compaction="open('after.json', 'w').write(json.dumps(told))",
    )
    seen: list[AgentEvent] = []
    summary = compacting(tmp_path, made, seen)
    told = json.loads((tmp_path / "work" / "after.json").read_text())
    assert told["event"] == "after_compaction"
    assert told["summary"] == summary.text
    assert told["tokens_before"] == summary.tokens_before > told["tokens_after"]
    assert [one.kind for one in seen] == ["compacting", "compacted"]


def test_a_compaction_may_be_vetoed(tmp_path: Path) -> None:
    made = configured(tmp_path, before_compaction="print(json.dumps({'veto': 'not now'}))")
    with pytest.raises(
        InvalidRequest, match=r"(?s)the before_compaction hook `.*` of hooks"
    ) as raised:
        compacting(tmp_path, made, [])
    assert "(not now) was against it; have it allow this, or take it out" in str(raised.value)
    assert "was against a compaction; none was made" in made.problems[0]


def test_a_hook_that_fails_lets_a_compaction_happen(tmp_path: Path) -> None:
    made = configured(tmp_path, before_compaction="sys.exit('broken')")
    assert compacting(tmp_path, made, [])
    assert "broken" in made.problems[0]


def test_what_a_hook_adds_reaches_whoever_writes_the_summary(tmp_path: Path) -> None:
    made = configured(tmp_path, before_compaction="print('dwell on ' + told['step'])")
    asked: list[str] = []

    def summarise(question: Any) -> str:
        asked.append(question.system + question.prompt)
        return "The user asked thirty questions, and each was answered in a few words."

    import holdfast

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6", summariser=summarise, hooks=[made])
        for n in range(30):
            s.user(f"question {n} " + "word " * 200)
            s.append(assistant(f"answer {n} " + "word " * 200))
        s.user("and now?")
        s.plan()
    assert "dwell on summarise" in asked[0] or "dwell on compact" in asked[0]


def test_our_keys_do_not_reach_a_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    made = configured(tmp_path, session_start="print(dict(os.environ))")
    assert "PATH" in made.started("s", "new")
    assert CANARY not in made.started("s", "new")


@pytest.mark.parametrize(
    "text", ["[[sesion_start]]\ncommand = 'x'", "[[tool_output]]\nseconds = 3", "not toml", "\xff"]
)
def test_a_file_that_cannot_be_understood_says_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "hooks.toml"
    file.write_text(text, "latin-1")
    with pytest.raises(InvalidRequest, match=r"hooks\.toml cannot be read as hooks"):
        hooks(str(tmp_path), file)


def test_no_file_is_no_hooks_and_a_repository_has_none(tmp_path: Path) -> None:
    (tmp_path / "hooks.toml").write_text("[[session_start]]\ncommand = 'echo hostile'\n")
    assert hooks(str(tmp_path)).started("s", "new") == ""


def test_the_example_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "agent.md").read_text("utf-8")
    (example,) = [one for one in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[[" in one]
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "work").mkdir()
    (tmp_path / "hooks.toml").write_text(example)
    made = hooks(str(tmp_path / "work"), tmp_path / "hooks.toml")
    assert made.started("s", "new").startswith("Today is ")
    call = ToolCall("1", "shell", "{}")
    for status, note in ((0, ""), (1, "\n[this command failed]")):
        output = f"[exit status {status}]"
        assert made.output("s", call, ToolResult("1", output)).output == output + note
    seen: list[AgentEvent] = []
    assert compacting(tmp_path, made, seen)
    assert json.loads((tmp_path / "compactions.jsonl").read_text())["event"] == "after_compaction"
    assert made.problems == []
