"""`holdfast chat` in a real terminal: typed in tmux, read from its screen."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.cli.chat.screen import _split  # type: ignore[reportPrivateUsage]
from holdfast.model.log import Summary
from holdfast.testing.strict.script import Ask, answer
from tests.cli.talking import Begin, talking

CANARY = b"sk-canary-0123456789"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
    "789c63606060000000040001f61738550000000049454e44ae426082"
)


def script(asked: Any) -> Any:
    """A model that does what the last thing said asks for."""
    if not asked.body.get("tools"):
        return answer("The user asked questions about words; all were answered.", delay=SLOW[0])
    content = asked.body["messages"][-1]["content"]
    said = content if isinstance(content, str) else str(content[-1])
    if "tool_result" in said:
        return answer("That is all.")
    found = (told for asked_for, told in SAID.items() if asked_for in said)
    return next(found, answer(WELL))


WELL = "# Well\n\nIt is **done**.\n\n- one\n- two\n\n```\na  =  1\n```\n\nAfter all."

LOW = {
    "anthropic-ratelimit-input-tokens-limit": "80000",
    "anthropic-ratelimit-input-tokens-remaining": "4000",
    "anthropic-ratelimit-input-tokens-reset": "2099-01-01T00:00:00Z",
}

SAID = {
    "at length": answer("word " * 3_000, pace=0.05),
    "make it": answer("Making it.", Ask("write", {"path": "made.txt", "content": "x"})),
    "run it": answer(Ask("shell", {"command": "echo begun; sleep 60"})),
    "hurry": answer("Not so fast.", headers=LOW),
    "busy": answer(status=429, error="busy", headers={"retry-after": "40"}),
    "in a while": answer("Here it is.", delay=2),
    "slowly now": answer(Ask("write", {"path": "made.txt", "content": "x"}), delay=2),
}

SLOW = [0.0]
"""How long a summary takes."""


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    SLOW[0] = 0.0
    with talking(tmp_path, script) as begun:
        yield begun


def log(tmp_path: Path) -> Any:
    return holdfast.open(tmp_path / "log.db")


def test_a_conversation(begin: Begin, tmp_path: Path) -> None:
    talk = begin()
    assert "holdfast · claude-sonnet-4-6" in talk.screen()
    talk.type("hello")
    seen = talk.wait("After all.")
    assert "It is done." in seen
    assert "• two" in seen
    assert "a  =  1" in seen
    assert "**" not in seen
    talk.type("make it")
    talk.wait("allow write made.txt? y / n / a = always here")
    talk.type("n")
    talk.wait("not allowed")
    talk.wait("That is all.")
    assert not (talk.work / "made.txt").exists()
    talk.type("please make it")
    talk.wait("allow write made.txt? y / n / a = always here", 2)
    talk.type("a")
    talk.wait("✓ created made.txt (+1 -0 lines)")
    assert (talk.work / "made.txt").read_text() == "x"
    rules = (tmp_path / "config" / "holdfast" / "permissions.toml").read_text()
    assert rules == f'[projects."{talk.work}"]\nallow = ["write"]\n'
    talk.type(f"my key is {CANARY.decode()}")
    talk.wait("After all.", 2)
    talk.press("C-d")
    talk.wait("holdfast chat -c goes on")
    stored = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "tmux"]
    assert not [file for file in stored if CANARY in file.read_bytes()]


def test_what_is_left_of_the_limits_is_shown_when_it_is_little(
    begin: Begin,
) -> None:
    talk = begin()
    talk.type("hello")
    talk.wait("░░░")
    talk.type("hurry")
    talk.wait("input tokens 5% left")
    talk.type("/cost")
    talk.wait("tokens in the last minute · input tokens: 5% of 80,000 left")


@pytest.mark.seed("001", 106)
@pytest.mark.seed("001", 30)
def test_what_can_be_typed_with_a_slash(begin: Begin, tmp_path: Path) -> None:
    with log(tmp_path) as hf:
        (tmp_path / "work").mkdir()
        s = hf.session(model="claude-sonnet-4-6", directory=tmp_path / "work")
        for n in range(20):
            s.user(f"question {n} " + "word " * 300)
            s.append(holdfast.assistant(f"answer {n} " + "word " * 300))
    talk = begin("-c")
    assert "40 messages loaded, about " in talk.screen()
    steps = {
        "/help": "bring something back by its handle",
        "/contxt": "did you mean /context?",
        "/context": "% of the window of 1,000,000",
        "/pin never touch vendor": "pinned: it is in every window",
        "/pin": "never touch vendor",
        "/compact the words": "in sight",
        "/recall #1": "question 0 word",
        "/undo": "undone; what was hidden is visible again",
        "/cost": "tokens in",
        "/map": "this is no git repository, so there is no map",
        "/policy": "holdfast; /policy NAME takes another",
        "/policy codex": "managed by codex from here on",
        "/model": "claude-sonnet-4-6; /model NAME takes another",
        "/model claude-haiku-4-5": "from here on claude-haiku-4-5",
        "/resume": "/resume ID goes on with one",
        f"/resume {s.id}": f"going on with {s.id}",
        "!echo from $((40 + 2))": "from 42",
        "/clear": "a new session; /resume lists the others",
    }
    for typed, shown in steps.items():
        talk.type(typed)
        talk.wait(shown)
    with log(tmp_path) as hf:
        bodies = [one.body for one in hf.session(s.id).entries()]
        (summary,) = [one for one in bodies if isinstance(one, Summary)]
        assert summary.model == "claude-sonnet-4-6"


def test_the_map_of_the_repository(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(work)], check=True, timeout=30)
    (work / "store.py").write_text("def open_store(): ...\n")
    (work / "use.py").write_text("from store import open_store\nopen_store()\n")
    talk = begin()
    talk.type("/map")
    talk.wait("  def open_store()")
    talk.wait("/map anew makes it afresh")
    (work / "store.py").write_text("def open_store(path): ...\n")
    talk.type("/map anew")
    talk.wait("  def open_store(path)")
    talk.type("/policy codex")
    talk.wait("managed by codex")
    talk.type("/map")
    talk.wait("the policy codex has no map")


@pytest.mark.seed("001", 105)
def test_another_model_goes_on_with_all_else_as_it_was(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "config" / "holdfast").mkdir(parents=True)
    hook = "[[session_start]]\ncommand = 'echo x >> starts; echo by the hook'\n"
    (tmp_path / "config" / "holdfast" / "hooks.toml").write_text(hook)
    talk = begin()
    (talk.work / "notes.md").write_text("the notes of the chat\n")
    talk.type("/add notes.md")
    talk.wait("notes.md is in the chat")
    talk.type("hello")
    talk.wait("After all.")
    talk.type("/model claude-haiku-4-5")
    talk.wait("from here on claude-haiku-4-5")
    talk.type("hello again")
    talk.wait("After all.", 2)
    sent = begin.server.asked  # type: ignore[attr-defined]
    assert [one.model for one in sent] == ["claude-sonnet-4-6", "claude-haiku-4-5"]
    assert "the notes of the chat" in str(sent[-1].body)
    assert "by the hook" in str(sent[-1].body)
    assert (talk.work / "starts").read_text() == "x\n"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("at length", "writing…"),
        ("run it", "allow shell echo begun; sleep 60?"),
        ("busy", "waiting 40 s to try again…"),
        ("in a while", "thinking…"),
    ],
)
def test_an_interrupt_loses_nothing(begin: Begin, typed: str, shown: str) -> None:
    talk = begin()
    talk.type(typed)
    talk.wait(shown)
    talk.press("C-c")
    talk.wait("interrupted; nothing was lost")
    talk.type("hello again")
    talk.wait("After all.")
    sent = str(begin.server.asked[-1].body)  # type: ignore[attr-defined]
    assert typed in sent
    assert "turn_aborted" in sent


def test_an_interrupt_of_a_tool_and_of_a_command(begin: Begin) -> None:
    talk = begin("--allow", "shell")
    talk.type("run it")
    talk.wait("shell echo begun; sleep 60…")
    talk.press("C-c")
    talk.wait("interrupted; nothing was lost")
    talk.type("!echo mine; sleep 60")
    talk.wait("echo mine; sleep 60…")
    talk.press("C-c")
    talk.wait("[interrupted]")
    talk.type("hello again")
    talk.wait("After all.")
    assert "$ echo mine" in str(begin.server.asked[-1].body)  # type: ignore[attr-defined]


def test_an_interrupt_of_a_compaction_changes_nothing(begin: Begin, tmp_path: Path) -> None:
    with log(tmp_path) as hf:
        (tmp_path / "work").mkdir()
        s = hf.session(model="claude-sonnet-4-6", directory=tmp_path / "work")
        for n in range(20):
            s.user(f"question {n} " + "word " * 300)
            s.append(holdfast.assistant(f"answer {n} " + "word " * 300))
        before = s.info.head
    SLOW[0] = 60.0
    talk = begin("-c")
    talk.type("/compact")
    talk.wait("compacting…")
    while not begin.server.asked:  # type: ignore[attr-defined]
        pass
    talk.press("C-c")
    talk.wait("interrupted; nothing was changed")
    talk.type("hello again")
    talk.wait("After all.")
    with log(tmp_path) as hf:
        again = hf.session(s.id)
        assert again.entry(before + 1).body.text != ""  # type: ignore[union-attr]
        assert not [one for one in again.entries() if isinstance(one.body, Summary)]


def test_what_is_typed_meanwhile_waits(begin: Begin) -> None:
    talk = begin()
    talk.type("in a while")
    talk.wait("thinking…")
    assert not talk.echoes()
    talk.letters("typed ahead")
    seen = talk.wait("Here it is.")
    assert "typed ahead" not in seen.partition("Here it is.")[0]
    talk.wait("> typed ahead")
    talk.press("C-u")
    talk.press("C-d")
    talk.wait("holdfast chat -c goes on")
    talk.type("true")
    talk.wait("true")
    assert talk.echoes()


def test_what_was_typed_before_a_question_is_no_answer(begin: Begin) -> None:
    talk = begin()
    talk.type("slowly now")
    talk.wait("thinking…")
    talk.type("y")
    talk.wait("allow write made.txt? y / n / a = always here")
    assert talk.echoes()
    assert not (talk.work / "made.txt").exists()
    talk.type("n")
    talk.wait("not allowed")
    assert not (talk.work / "made.txt").exists()


def test_pictures_by_path_and_by_paste(begin: Begin) -> None:
    talk = begin()
    (talk.work / "a picture.png").write_bytes(PIXEL)
    (talk.work / "plain.png").write_bytes(PIXEL)
    (talk.work / "fake.png").write_bytes(b"no picture")
    talk.type("look at plain.png and fake.png and absent.png")
    talk.wait("picture: plain.png, image/png, 69 bytes")
    talk.wait("fake.png is not taken along: it is no PNG")
    talk.wait("After all.")
    pasted = (f"'{talk.work}/a picture.png'", f"file://{talk.work}/a%20picture.png",
              f"{talk.work}/a\\ picture.png")  # fmt: skip
    for times, one in enumerate(pasted, 1):
        talk.letters("what is ")
        talk.paste(one)
        talk.press("Enter")
        talk.wait("picture: a picture.png, image/png", times)
        talk.wait("After all.", times + 1)
    sent = begin.server.asked[-1].body["messages"]  # type: ignore[attr-defined]
    assert str(sent).count("'media_type': 'image/png'") == 4


def test_several_lines_and_what_was_said_before(begin: Begin) -> None:
    talk = begin()
    talk.letters("first line")
    talk.press("M-Enter")
    talk.type("second line")
    talk.wait("After all.")
    assert "first line\\nsecond line" in str(begin.server.asked[-1].body)  # type: ignore[attr-defined]
    talk.press("Up")
    talk.wait("second line", 2)


def test_without_colour(begin: Begin) -> None:
    talk = begin(NO_COLOR="1")
    talk.type("hello")
    talk.wait("After all.")
    above = talk.screen(colours=True).rpartition("claude-sonnet-4-6 ·")[0]
    colours = [f"\x1b[{n}m" for n in (*range(30, 38), *range(90, 98))]
    assert not [one for one in colours if one in above]


def test_nothing_is_wider_than_the_terminal(begin: Begin) -> None:
    talk = begin(columns=60)  # type: ignore[arg-type]
    talk.type("hello")
    seen = talk.wait("After all.")
    assert max(map(len, seen.splitlines())) <= 60
    talk.wait("of the window")


def test_markdown_is_drawn_when_it_is_whole() -> None:
    assert _split("one\n\ntwo") == ("one\n\n", "two")
    assert _split("```\na\n\nb") == ("", "```\na\n\nb")
    assert _split("```\na\n\nb\n```\n\nc") == ("```\na\n\nb\n```\n\n", "c")
    assert _split("~~~\n```\n\nb\n~~~\n\nc") == ("~~~\n```\n\nb\n~~~\n\n", "c")
