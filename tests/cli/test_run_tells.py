"""`holdfast run` says what it is doing while it does it, and how it ended by its status."""

import json
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Answer, Ask, answer
from tests.cli.person import sitting
from tests.cli.test_run import environment, run
from tests.cli.test_run_again import begun

TOUCH = answer("Touching it.", Ask("shell", {"command": "touch x"}))


def test_the_reply_streams_to_stderr_while_it_is_written(tmp_path: Path) -> None:
    with StrictServer(lambda asked: answer("here it begins " + "word " * 800, pace=0.1)) as server:
        running = begun(tmp_path, server, "-p", "at length")
        seen, end = "", time.monotonic() + 60
        while "here it begins" not in seen and time.monotonic() < end:
            if select.select([running.stderr], [], [], 0.1)[0]:
                seen += os.read(running.stderr.fileno(), 4096).decode()
        try:
            assert "here it begins" in seen
            assert running.poll() is None, "it is still being written"
        finally:
            running.kill()
            running.communicate(timeout=30)


def test_each_call_is_a_line_and_what_was_refused_is_said(tmp_path: Path) -> None:
    answers = iter([answer(Ask("list")), TOUCH, answer("I was not allowed to.")])
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-p", "touch it")
    assert (done.returncode, done.stdout) == (3, "I was not allowed to.\n")
    said = done.stderr.splitlines()
    for line in (
        "→ list",
        "  ✓ it is empty",
        "Touching it.",
        "→ shell touch x",
        "  not allowed: shell",
        "I was not allowed to.",
        "not allowed: a call (shell); --allow RULE allows more",
    ):
        assert line in said, done.stderr


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        (answer("done"), 0, ""),
        (Answer(parts=answer("half a rep").parts, stop="length"), 4, "cut at its limit"),
        (Answer(parts=answer("no").parts, stop="refused"), 4, "refused to answer"),
    ],
)
def test_the_status_says_whether_the_reply_is_whole(
    tmp_path: Path, said: Answer, status: int, words: str
) -> None:
    with StrictServer(lambda asked: said) as server:
        done = run(tmp_path, server, "-p", "say it")
        assert done.returncode == status, done.stderr
        assert done.stdout == f"{said.parts[0].text}\n"  # type: ignore[union-attr]
        assert words in done.stderr
        told = json.loads(run(tmp_path, server, "-p", "say it", "--json").stdout)
    assert (told["status"], told["refused"]) == (status, [])
    assert told["stop"] == (said.stop or "end")


@pytest.mark.parametrize("how", ["--json", "--stream-json"])
def test_json_says_what_was_refused(tmp_path: Path, how: str) -> None:
    answers = iter([TOUCH, answer("No.")])
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-p", "touch it", how)
    assert (done.returncode, done.stderr) == (3, "")
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["refused"], told["status"], told["result"]) == (["shell"], 3, "No.")


def test_quiet_says_nothing_but_the_answer_and_errors(tmp_path: Path) -> None:
    wrong_then_right = [answer(status=400, error="no such thing"), answer("Yes.")]
    answers = iter([TOUCH, answer("No."), *wrong_then_right])
    with StrictServer(lambda asked: next(answers)) as server:
        done = run(tmp_path, server, "-p", "touch it", "--quiet")
        assert (done.returncode, done.stdout, done.stderr) == (3, "No.\n", "")
        wrong = run(tmp_path, server, "-p", "again", "-q")
        unknown = run(tmp_path, server, "-p", "again", "-q", "-m", "claude-nobody-knows-1")
        assert (unknown.returncode, unknown.stdout, unknown.stderr) == (0, "Yes.\n", "")
        assert wrong.returncode == 1
        assert "no such thing" in wrong.stderr


def test_on_a_terminal_the_answer_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with StrictServer(lambda asked: answer("the answer is 42")) as server:
        env = environment(tmp_path, server)
        with sitting("run", "-p", "what?", place=tmp_path / "work", env=env) as person:
            assert person.ended(60) == 0
            person.drain()
            assert len(re.findall("the answer is 42", person.seen)) == 1


def test_what_a_reply_says_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    with StrictServer(lambda asked: answer("red \x1b[31m and \x07 bell")) as server:
        done = run(tmp_path, server, "-p", "act")
    assert "\x1b" not in done.stderr + done.stdout
    assert "\x07" not in done.stderr + done.stdout


def test_statuses_are_in_the_docs() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text()
    for status in ("0", "1", "2", "3", "4", "130", "143"):
        assert re.search(rf"^\| `?{status}`?(, | \|)", page, re.MULTILINE), status


def test_a_message_that_cannot_be_written_is_still_an_error(tmp_path: Path) -> None:
    with StrictServer(lambda asked: Answer(parts=answer("x").parts, stop="length")) as server:
        told = f"{sys.executable} -m holdfast.cli run -q -p hi >/dev/full"
        done = subprocess.run(["sh", "-c", told], cwd=tmp_path, env=environment(tmp_path, server),
                              stderr=subprocess.PIPE, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "not all could be written" in done.stderr.decode()
