"""More of `holdfast chat` in tmux: models, short talks, diffs, what is typed ahead, keys."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.cli.transcripts.export import FORMATS
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.cli.running import values
from tests.cli.talking import Begin, talking
from tests.cli.test_run import run

KEY = "sk-canary-0123456789"
"""The key that the terminal has in its environment."""

PROGRAM = f"{sys.executable} -m holdfast.cli"


def script(asked: Any) -> Any:
    """A model that does what the last thing said asks for."""
    content = asked.body["messages"][-1]["content"]
    said = content if isinstance(content, str) else str(content[-1])
    found = (told for asked_for, told in SAID.items() if asked_for in said)
    return next(found, answer("All right."))


SAID = {
    "in a while": answer("Here it is.", delay=2),
    "edit it": answer(Ask("edit", {"path": "a.py", "old": "    two", "new": "    2\n    3"})),
    "show me": answer(f"It says {KEY}.", Ask("shell", {"command": f"cat secret; echo {KEY}"})),
    "fail now": answer(status=401, error=f"no such key: {KEY}"),
    "fail later": answer(status=400, error=f"odd: {KEY}"),
}


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    with talking(tmp_path, script) as begun:
        yield begun


def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setenv("HOLDFAST_STORE", str(tmp_path / "log.db"))
    return values("sessions")


def test_whom_to_talk_to(begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = begin()
    talk.type("/model")
    seen = talk.wait("`holdfast models --all` shows what each holds")
    assert "claude-sonnet-4-6; /model NAME takes another" in seen
    assert "anthropic: claude-" in seen
    assert "openai:" not in seen
    talk.type("/model sonnett")
    talk.wait("nobody here knows sonnett; did you mean claude-sonnet-")
    talk.wait("talk to it all the same?")
    talk.type("n")
    talk.type("/model qqqq")
    talk.wait("nobody here knows qqqq; there are:")
    talk.wait("talk to it all the same?", 2)
    talk.type("n")
    talk.type("hello")
    talk.wait("All right.")
    talk.type("/model claude-haiku-4-5")
    talk.wait("from here on claude-haiku-4-5")
    talk.type("hello again")
    talk.wait("All right.", 2)
    asked = begin.server.asked  # type: ignore[attr-defined]
    assert [one.model for one in asked] == ["claude-sonnet-4-6", "claude-haiku-4-5"]
    assert [one["model"] for one in sessions(tmp_path, monkeypatch)] == ["claude-haiku-4-5"]


def test_a_conversation_too_short_for_a_summary(begin: Begin) -> None:
    talk = begin()
    talk.type("hello")
    talk.wait("All right.")
    asked = len(begin.server.asked)  # type: ignore[attr-defined]
    steps = {
        "/compact": "nothing was done",
        "/compact force": "/context",
        "/undo": "to undo; /compact makes one",
        "/redo": "/undo undoes",
        "/pin never touch vendor": "pinned: it is in every window",
        "/unpin never": "no longer pinned",
        "/unpin": "nothing is pinned",
    }
    for typed, shown in steps.items():
        talk.type(typed)
        talk.wait(shown)
        if typed == "/compact":
            assert len(begin.server.asked) == asked  # type: ignore[attr-defined]


def test_what_is_typed_alone_says_what_there_is(begin: Begin, tmp_path: Path) -> None:
    talk = begin()
    (talk.work / "notes.py").write_text("x = 1\n")
    for typed, shown in {
        "/add": "no file is in the chat; /add PATH brings one",
        "/add note.py": "did you mean notes.py?",
        "/add nowhere/note.py": "there is no directory nowhere here",
        "/add notes.py": "notes.py is in the chat, about ",
        "/policy": "or the path of a file",
        "/recall": "/recall HANDLE brings something back",
        "/resume": "/resume ID goes on with one",
        "/help": "Alt-Enter",
    }.items():
        talk.type(typed)
        talk.wait(shown)
    assert "Errno" not in talk.screen()
    talk.type("/drop")
    talk.wait("\nnotes.py\n")
    with holdfast.open(tmp_path / "log.db") as hf:
        (one,) = hf.sessions()
    assert f"{one.id} " not in talk.screen(), "ids are short"
    talk.wait(f"{one.id[:6]}")
    talk.wait(" · work · claude-sonnet-4-6")


def test_the_model_that_was_asked_for_is_there_again(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = begin()
    talk.type("hello")
    talk.wait("All right.")
    talk.type("/model claude-haiku-4-5")
    talk.wait("from here on claude-haiku-4-5")
    talk.press("C-d")
    talk.wait("goes on")
    assert [one["model"] for one in sessions(tmp_path, monkeypatch)] == ["claude-haiku-4-5"]
    assert [one["model"] for one in values("context")] == ["claude-haiku-4-5"]
    talk.run("chat", "-c")
    talk.wait("holdfast · claude-haiku-4-5 ·")
    talk.type("hello again")
    talk.wait("All right.", 2)  # the first is what was last said
    asked = begin.server.asked  # type: ignore[attr-defined]
    assert "So far claude-sonnet-4-6 has led" in str(asked[-1].body)


def test_a_change_is_seen_before_it_is_allowed(begin: Begin) -> None:
    talk = begin()
    (talk.work / "a.py").write_text("one\n    two\nthree\n")
    talk.type("edit it")
    talk.wait("allow edit a.py? y / n / a = always here")
    seen = talk.screen()
    for line in ("  @@ -1,3 +1,4 @@", "   one", "  -    two", "  +    2", "  +    3", "   three"):
        assert line in seen.splitlines()
    coloured = talk.screen(colours=True)
    assert re.search(r"\x1b\[31m(\x1b\[49m)?  -    two", coloured)
    assert re.search(r"\x1b\[32m(\x1b\[49m)?  \+    2", coloured)
    talk.type("y")
    talk.wait("All right.")
    assert (talk.work / "a.py").read_text() == "one\n    2\n    3\nthree\n"


def test_what_is_typed_ahead_survives_an_interrupt(begin: Begin) -> None:
    talk = begin()
    talk.type("in a while")
    talk.wait("thinking…")
    talk.letters("typed ahead")
    talk.press("C-c")
    talk.wait("interrupted; nothing was lost")
    talk.wait("> typed ahead")


def test_an_interrupt_right_after_enter_takes_back_what_was_sent(
    begin: Begin,
) -> None:
    talk = begin()
    talk.letters("sent too soon")
    talk.press("Enter", "C-c", "n", "o", "w")
    talk.wait("interrupted; what was typed was not sent")
    talk.wait("> now")
    talk.press("Enter")
    talk.wait("All right.")
    (asked,) = begin.server.asked  # type: ignore[attr-defined]
    assert "sent too soon" not in str(asked.body)
    assert "leaves" not in talk.screen().partition("sent too soon")[2]


def test_an_interrupt_that_waits_in_the_terminal_is_seen_and_all_else_stays_typed() -> None:
    from prompt_toolkit.input.typeahead import get_typeahead
    from prompt_toolkit.input.vt100 import Vt100Input

    from holdfast.cli.chat.prompt import interrupted_meanwhile

    ours, theirs = os.openpty()
    with os.fdopen(ours, "wb", 0) as keyboard, os.fdopen(theirs, "r") as terminal:
        typed = Vt100Input(terminal)
        assert not interrupted_meanwhile(typed)
        with typed.raw_mode():
            keyboard.write(b"ab\x03c")
            while not select.select([terminal], [], [], 1)[0]:
                pass
        assert interrupted_meanwhile(typed)
        assert [key.data for key in get_typeahead(typed)] == ["a", "b", "c"]
        assert not interrupted_meanwhile(typed)


def test_the_parting_hint_names_the_session_where_there_are_several(
    begin: Begin, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    with holdfast.open(tmp_path / "log.db") as hf:
        hf.session(model="claude-sonnet-4-6", directory=tmp_path / "work").user("another")
    talk = begin()
    talk.type("hello")
    talk.wait("All right.")
    talk.press("C-d")
    talk.wait("holdfast chat --resume ")
    with holdfast.open(tmp_path / "log.db") as hf:
        newest = hf.sessions()[0].id
    talk.wait(f"holdfast chat --resume {newest} goes on")


def large(tmp_path: Path) -> None:
    """A conversation that a model of 20,000 tokens cannot hold any more."""
    (tmp_path / "config/holdfast").mkdir(parents=True)
    (tmp_path / "config/holdfast/profiles.toml").write_text(
        "[claude-sonnet-4-6]\nextends = 'claude-sonnet-4-5'\n"
        "window = 20_000\noutput_limit = 2_000\n"
    )
    (tmp_path / "work").mkdir()
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6", directory=tmp_path / "work")
        for n in range(40):
            s.user(f"question {n} " + "word " * 300)
            s.append(holdfast.assistant(f"answer {n} " + "word " * 300))


@pytest.mark.seed("000", 17)
def test_a_summary_that_is_due_is_told_before_it_is_paid_for(begin: Begin, tmp_path: Path) -> None:
    large(tmp_path)
    talk = begin("-c")
    seen = " ".join(talk.wait("--cap-session").split())
    assert "of it first become a summary by claude-sonnet-4-6" in seen
    assert "that may cost up to $0." in seen
    assert begin.server.asked == []  # type: ignore[attr-defined]


def test_a_run_tells_what_is_due_and_what_the_cap_makes_of_it(tmp_path: Path) -> None:
    large(tmp_path)
    with StrictServer("All right.") as server:
        capped = run(tmp_path, server, "-c", "-p", "hi", "--json", "--cap-session", "0.03")
        created = [one for one in server.asked if one.endpoint == "create"]
        causes = [bool(one.body.get("tools")) for one in created]
        told = json.loads(capped.stdout)["loaded"]["summary_due"]
    assert told["model"] == "claude-sonnet-4-6"
    assert told["tokens"] > 10_000
    assert 0.05 < told["most_usd"] < 1
    assert "beyond the cap of the session" in told["why_not"]
    assert all(causes), "no model was asked for a summary"


def test_our_key_is_nowhere(begin: Begin, tmp_path: Path) -> None:
    talk = begin("--allow", "shell")
    (talk.work / "secret").write_text(f"the key is {KEY}\n")
    for typed, shown in {
        "show me": "All right.",
        "!cat secret; echo $ANTHROPIC_API_KEY": "[exit status 0]",
        "fail now": "no such key",
        "fail later": "odd: ",
        "/recall #2": "It says",
        "/context": "would be sent",
        "/cost": "tokens in",
    }.items():
        talk.type(typed)
        talk.wait(shown)
    assert KEY not in talk.screen()
    talk.type(f"I know that it is {KEY}")
    talk.wait("All right.", 2)
    talk.type(f"/pin {KEY}")
    talk.wait("pinned")
    talk.press("C-d")
    talk.wait("holdfast chat -c goes on")
    (talk.work / "secret").unlink()
    for form in FORMATS:
        talk.type(f"{PROGRAM} export last --to {form} -o exported-{form}; touch done-{form}")
        while not (talk.work / f"done-{form}").exists():
            pass
        assert (talk.work / f"exported-{form}").read_bytes()
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert (tmp_path / "data/holdfast/prompts.jsonl") in kept
    assert [file for file in kept if KEY.encode() in file.read_bytes()] == []


@pytest.mark.parametrize("module", ["prompt_toolkit", "httpx2"])
def test_what_chat_needs_is_named_where_it_is_missing(module: str, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        f"import sys\nsys.modules[{module!r}] = None\n"
        "import holdfast.cli\nholdfast.cli.main(['chat'])\n"
    )
    person, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "main.py"], cwd=tmp_path, stdin=terminal, stdout=terminal,
            stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(person)
        os.close(terminal)
    assert done.returncode == 1
    assert f"chat needs {module}" in done.stderr
    assert "pip install 'holdfast[chat]'" in done.stderr
    assert "Traceback" not in done.stderr
