"""`holdfast run`: the agent without anybody to ask, against a real server."""

import json
import os
import subprocess
import sys
from pathlib import Path

from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer

KEY = "sk-canary-0123456789"


def environment(tmp_path: Path, server: StrictServer) -> dict[str, str]:
    return {
        **os.environ,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": server.url("anthropic"),
        "HOLDFAST_STORE": str(tmp_path / "log.db"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


def run(tmp_path: Path, server: StrictServer, *words: str) -> subprocess.CompletedProcess[str]:
    env = environment(tmp_path, server)
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    told = [sys.executable, "-m", "holdfast.cli", "run", *words]
    return subprocess.run(told, cwd=work, env=env, capture_output=True, text=True, timeout=60)


def test_a_task_is_done_and_goes_on(tmp_path: Path) -> None:
    answers = iter(
        [
            answer("Writing.", Ask("write", {"path": "a.txt", "content": "hello\n"})),
            answer("Written."),
            answer("It was hello."),
        ]
    )
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-p", "write hello", "--allow", "write", "--json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["result"] == "Written."
        assert told["cost_usd"] > 0
        assert (tmp_path / "work" / "a.txt").read_text() == "hello\n"
        again = run(tmp_path, server, "-c", "-p", "what was it?")
        assert again.stdout == "It was hello.\n"
        assert "write hello" in str(server.asked[-1].body)
        assert not [one.rule for one in server.asked if one.rule]


def test_what_is_not_allowed_is_denied(tmp_path: Path) -> None:
    answers = iter([answer(Ask("shell", {"command": "touch x"})), answer("Not allowed.")])
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-p", "touch it", "--stream-json")
        kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
        assert [one for one in kinds if one != "delta"][1:-2] == [
            "tool_call", "refused", "tool_result",
        ]  # fmt: skip
        assert kinds[-1] == "result"
        assert not (tmp_path / "work" / "x").exists()


def test_the_key_is_nowhere(tmp_path: Path) -> None:
    answers = iter([answer(Ask("shell", {"command": "env; echo " + KEY})), answer("Done.")])
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-p", f"my key is {KEY}", "--allow", "shell", "--stream-json")
        assert done.returncode == 0, done.stderr
        for file in tmp_path.rglob("*"):
            if file.is_file():
                assert KEY.encode() not in file.read_bytes(), file
        assert KEY not in done.stderr


def test_without_a_model_and_a_key_it_says_what_to_do(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if "_API_KEY" not in name}
    env |= {"HOLDFAST_STORE": str(tmp_path / "log.db"), "HOLDFAST_MODEL": ""}
    told = [sys.executable, "-m", "holdfast.cli", "run", "-p", "hi"]
    done = subprocess.run(told, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "ANTHROPIC_API_KEY" in done.stderr


def test_a_cap_stops_it_before_the_call(tmp_path: Path) -> None:
    with StrictServer(lambda asked: "never") as server:
        done = run(tmp_path, server, "-p", "a task", "--cap-session", "0.000001", "--json")
        assert done.returncode == 1
        told = json.loads(done.stdout)
        assert told["kind"] == "Capped"
        assert "--cap-session" in told["do"]
        assert not server.asked
        again = run(tmp_path, server, "-c", "-p", "go on", "--cap-session", "5")
        assert again.stdout == "never\n"
        assert "a task" in str(server.asked[-1].body)


def test_tools_that_take_too_much_of_the_window_are_found_before_they_are_used(
    tmp_path: Path,
) -> None:
    (tmp_path / "config/holdfast").mkdir(parents=True)
    (tmp_path / "config/holdfast/profiles.toml").write_text("[claude-small]\nwindow = 5000\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/here.py").write_text("")
    answers = iter(
        [
            answer(Ask("tool_search", {"query": "find files by name"})),
            answer(Ask("glob", {"pattern": "*.py"})),
            answer("here.py"),
        ]
    )
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-m", "claude-small", "-p", "which files?", "--stream-json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.refused == []
        first, second, last = (one.body for one in server.asked)
    names = [{one["name"] for one in body["tools"]} for body in (first, second, last)]
    assert {"read", "write", "edit", "shell", "recall", "tool_search"} <= names[0]
    assert "glob" not in names[0]
    assert "<available-deferred-tools>" in str(first)
    assert names[0] | {"glob"} <= names[1] == names[2]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    results = [one["output"] for one in told if one["type"] == "tool_result"]
    assert "glob" in results[0]
    assert results[1] == "here.py"


def test_where_there_is_room_every_tool_is_there_at_once(tmp_path: Path) -> None:
    with StrictServer(lambda asked: answer("Yes.")) as server:
        assert run(tmp_path, server, "-p", "all there?").returncode == 0
        names = {one["name"] for one in server.asked[0].body["tools"]}
    assert {"glob", "todo", "subtask", "search_history"} <= names
    assert "tool_search" not in names


def test_an_output_that_takes_nothing_is_told(tmp_path: Path) -> None:
    with StrictServer("All right.") as server:
        told = f"{sys.executable} -m holdfast.cli run -p hi"
        named = {"cwd": tmp_path, "env": environment(tmp_path, server), "timeout": 60}
        closed = subprocess.run(["sh", "-c", f"{told} >&-"], stderr=subprocess.PIPE, **named)  # type: ignore[call-overload]
        assert closed.returncode == 1
        assert closed.stderr.decode() == (
            "error: the output is closed, so nothing was done\n"
            "   do: send it somewhere, be it to /dev/null\n"
        )
        assert not server.asked
        full = subprocess.run(
            ["sh", "-c", f"{told} -q >/dev/full"], stderr=subprocess.PIPE, **named
        )  # type: ignore[call-overload]
        assert full.returncode == 1
        assert full.stderr.decode() == (
            "error: not all could be written: No space left on device\n"
            "   do: make room, or send the output elsewhere\n"
        )
