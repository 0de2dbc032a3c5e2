"""`holdfast run` goes on: resumed, forked, with another model, after an error and after SIGINT."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.model.log import Summary
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.cli.test_run import environment, run

PROFILES = """
[claude-big]
extends = "claude-sonnet-4-6"
window = 40_000
output_limit = 2_000

[claude-little]
extends = "claude-haiku-4-5"
window = 14_000
output_limit = 1_000
"""


def begun(tmp_path: Path, server: StrictServer, *words: str) -> Any:
    """A run that is still going on."""
    (tmp_path / "work").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", "run", *words],
        cwd=tmp_path / "work",
        env=environment(tmp_path, server),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("how", ["--json", "--stream-json"])
@pytest.mark.parametrize(
    ("failing", "kind"),
    [
        (answer(status=400, error="no such thing"), "ProviderRejected"),
        (answer(status=401, error="who are you?"), "AuthError"),
        (answer("half a", error="overloaded"), "Cut"),
    ],
)
def test_an_error_ends_it_and_says_so(tmp_path: Path, how: str, failing: Any, kind: str) -> None:
    with StrictServer(lambda asked: failing) as server:
        done = run(tmp_path, server, "-p", "hello", how)
        assert done.returncode == 1
        told = lines(done)[-1]
        assert (told["type"], told["kind"]) == ("error", kind)
        assert told["session"]
        assert told["error"]
    with StrictServer("fine") as server:
        again = run(tmp_path, server, "-c", "-p", "once more", "--json")
        assert again.returncode == 0
        assert lines(again)[-1]["session"] == told["session"]
        assert "hello" in str(server.asked[-1].body)
        assert not [one.rule for one in server.asked if one.rule]


def test_resuming_says_what_it_loaded(tmp_path: Path) -> None:
    with StrictServer("fine") as server:
        first = lines(run(tmp_path, server, "-p", "one", "--json"))[-1]
        assert "loaded" not in first
        told = run(tmp_path, server, "-c", "-p", "two")
        assert f"{first['session']}: 2 messages loaded, about " in told.stderr
        assert told.stdout == "fine\n"
        (last,) = lines(run(tmp_path, server, "-r", first["session"][:12], "-p", "3", "--json"))
        assert last["session"] == first["session"]
        assert last["loaded"]["messages"] == 4
        assert last["loaded"]["summarised"] == 0
        stream = lines(run(tmp_path, server, "-c", "-p", "four", "--stream-json"))
        assert (stream[0]["type"], stream[0]["messages"]) == ("loaded", 6)


def test_what_is_only_summarised_is_said(tmp_path: Path) -> None:
    with StrictServer("fine") as server:
        run(tmp_path, server, "-p", "one")
        with holdfast.open(tmp_path / "log.db") as hf:
            s = hf.session(hf.sessions()[0].id)
            for n in range(12):
                s.user(f"question {n} " + "word " * 300)
                s.append(holdfast.assistant("answer " + "word " * 300))
            s.user("and now?")
            s.apply(s.plan())
            view = s.view()
        told = run(tmp_path, server, "-c", "-p", "go on")
        assert "earlier entries only in 1 summary" in told.stderr
        assert view.folded.summaries


def test_a_fork_leaves_the_session_as_it_is(tmp_path: Path) -> None:
    with StrictServer("fine") as server:
        first = lines(run(tmp_path, server, "-p", "one", "--json"))[-1]
        forked = lines(run(tmp_path, server, "-c", "--fork", "-p", "two", "--json"))[-1]
        assert forked["session"] != first["session"]
        assert "one" in str(server.asked[-1].body)
        with holdfast.open(tmp_path / "log.db") as hf:
            assert hf.resolve(first["session"]).head == first["entries"]
            assert hf.resolve(forked["session"]).parent == first["session"]
        alone = run(tmp_path, server, "--fork", "-p", "three")
        assert alone.returncode == 1
        assert "say -c for the last one" in alone.stderr


def test_another_model_goes_on_and_the_one_before_tells_it_all(tmp_path: Path) -> None:
    configured(tmp_path, "profiles.toml", PROFILES)

    def script(asked: Any) -> Any:
        if not asked.body.get("tools"):
            return answer("The user asked many questions about words; all of them were answered.")
        return answer("Answered. " + "Indeed so. " * 40)

    with StrictServer(script) as server:
        run(tmp_path, server, "-m", "claude-big", "-p", "one")
        talked(tmp_path, 40)
        server.asked.clear()
        done = run(tmp_path, server, "-m", "claude-little", "-c", "-p", "and now?", "--json")
        assert done.returncode == 0, done.stderr
        models = [
            (one.model, bool(one.body.get("tools")))
            for one in server.asked
            if one.endpoint == "create"
        ]
        assert models[0] == ("claude-big", False)
        assert models[-1] == ("claude-little", True)
        assert not [one.rule for one in server.asked if one.rule]
        with holdfast.open(tmp_path / "log.db") as hf:
            bodies = [one.body for one in hf.session(hf.sessions()[0].id).entries()]
            (summary,) = [body for body in bodies if isinstance(body, Summary)]
            assert (summary.trigger, summary.model) == ("switch", "claude-big")
        again = lines(run(tmp_path, server, "-c", "-p", "go on", "--json"))[-1]
        assert again["model"] == "claude-little"


@pytest.mark.parametrize("when", ["stream", "silence", "tool", "retry"])
def test_sigint_loses_nothing(tmp_path: Path, when: str) -> None:
    answers = {
        "stream": answer("word " * 2_000, pace=0.05),
        "silence": answer("late", delay=60),
        "tool": answer(Ask("shell", {"command": "echo heard-it; touch begun; sleep 60"})),
        "retry": answer(status=503, error="busy", headers={"retry-after": "50"}),
    }
    signs = {"stream": '"text": "word', "tool": '"tool": "shell"', "retry": '"waiting"'}

    def script(asked: Any) -> Any:
        return answer("All right.") if "never mind" in str(asked.body) else answers[when]

    with StrictServer(script) as server:
        words = ("-p", "go on for long", "--stream-json", "--allow", "shell")
        running = begun(tmp_path, server, *words)
        sign = signs.get(when)
        while sign and sign not in running.stdout.readline():
            pass
        while not sign and not server.asked:
            pass
        if when == "tool":
            while not (tmp_path / "work" / "begun").exists():
                pass
        os.kill(running.pid, signal.SIGINT)
        said, wrong = running.communicate(timeout=30)
        assert running.returncode == 130, wrong
        assert json.loads(said.splitlines()[-1])["type"] == "interrupted"
        assert "Traceback" not in wrong
        done = run(tmp_path, server, "-c", "-p", "never mind")
        assert done.stdout == "All right.\n", done.stderr
        sent = str(server.asked[-1].body)
        assert "go on for long" in sent
        assert "turn_aborted" in sent
        assert ("heard-it" in sent) == (when == "tool")
        assert not [one.rule for one in server.asked if one.rule]
    assert kept(tmp_path, "word word") == (when == "stream")


def kept(tmp_path: Path, words: str) -> bool:
    """Whether a message of the newest session holds these words, in a store that is sound."""
    with holdfast.open(tmp_path / "log.db") as hf:
        assert hf.examine() == ()
        bodies = [one.body for one in hf.session(hf.sessions()[0].id).entries()]
        return any(words in body.text for body in bodies if isinstance(body, Message))


def test_an_interrupt_of_a_compaction_changes_nothing(tmp_path: Path) -> None:
    configured(tmp_path, "profiles.toml", PROFILES)

    def script(asked: Any) -> Any:
        slow = not asked.body.get("tools") and "never mind" not in str(asked.body)
        return answer("The user asked many questions; all were answered.", delay=60 if slow else 0)

    with StrictServer(script) as server:
        run(tmp_path, server, "-m", "claude-big", "-p", "one")
        talked(tmp_path, 40)
        running = begun(tmp_path, server, "-m", "claude-little", "-c", "-p", "go", "--stream-json")
        while '"compacting"' not in running.stdout.readline():
            pass
        while len(server.asked) < 2:
            pass
        os.kill(running.pid, signal.SIGINT)
        _, wrong = running.communicate(timeout=30)
        assert running.returncode == 130, wrong
        with holdfast.open(tmp_path / "log.db") as hf:
            bodies = [one.body for one in hf.session(hf.sessions()[0].id).entries()]
            assert not [body for body in bodies if isinstance(body, Summary)]
        done = run(tmp_path, server, "-m", "claude-big", "-c", "-p", "never mind", "--json")
        assert done.returncode == 0, done.stderr
        assert "turn_aborted" in str(server.asked[-1].body)
        assert not [one.rule for one in server.asked if one.rule]


def test_hooks_are_the_users_and_no_repositorys(tmp_path: Path) -> None:
    (tmp_path / "work" / ".holdfast").mkdir(parents=True)
    for place in ("hooks.toml", ".holdfast/hooks.toml", ".holdfast.toml"):
        (tmp_path / "work" / place).write_text("[[session_start]]\ncommand = 'echo hostile'\n")
    configured(tmp_path, "hooks.toml", "[[session_start]]\ncommand = 'echo of my own'\n")
    with StrictServer("fine") as server:
        run(tmp_path, server, "-p", "hello")
        body = str(server.asked[-1].body)
        assert "of my own" in body
        assert "hostile" not in body
        configured(tmp_path, "hooks.toml", "[[tool_output]]\ncommand = 3\n")
        done = run(tmp_path, server, "-p", "hello")
        assert done.returncode == 1
        assert "hooks.toml cannot be read as hooks" in done.stderr


def configured(tmp_path: Path, name: str, text: str) -> None:
    home = tmp_path / "config" / "holdfast"
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)


def talked(tmp_path: Path, many: int) -> None:
    """So many questions and answers more in the newest session."""
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(hf.sessions()[0].id)
        for n in range(many):
            s.user(f"question {n} " + "word " * 200)
            s.append(holdfast.assistant("answer " + "word " * 200), model="claude-big")
