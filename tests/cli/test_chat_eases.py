"""What makes a chat easy: outputs again, search, forks, files by pattern and by @, time, Tab."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from rich.console import Console

from holdfast.agent.events import AgentEvent
from holdfast.cli.chat.completer import ChatCompleter
from holdfast.cli.chat.conversation import Conversation
from holdfast.cli.chat.screen import Below
from holdfast.cli.chat.slash import like, slash
from holdfast.model.log import Summary
from holdfast.model.message import assistant
from holdfast.testing.strict.script import Ask, answer
from tests.cli.conversing import MODEL, conversing
from tests.cli.talking import talking


def script(asked: Any) -> Any:
    """A model that runs what it is told to."""
    said = str(asked.body["messages"][-1]["content"])
    if "tool_result" in said:
        return answer("Twelve\n\nlines\n\ncame.")
    if "in a while" in said:
        return answer("Here it is.", delay=1)
    if "run it" in said:
        return answer(Ask("shell", {"command": "seq 12"}), Ask("read", {"path": "a.py"}))
    return answer("All right.")


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Conversation]:
    for name in ("a.py", "b.txt", "two words.md", "src/c.py", "src/deep/d.py", ".hidden/e.py"):
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"name = {name!r}\n")
    with conversing(tmp_path, monkeypatch, script) as made:
        yield made


@pytest.fixture
def typed(talk: Conversation, capsys: pytest.CaptureFixture[str]) -> Any:
    def shown(text: str) -> str:
        drawn: Any = talk.screen.console.file
        before = drawn.tell()
        talk._interruptible(text)  # type: ignore[reportPrivateUsage]
        return drawn.getvalue()[before:].replace(" \n", "\n") + capsys.readouterr().out

    return shown


def test_what_a_tool_has_answered_is_shown_whole_by_its_number(typed: Any) -> None:
    assert "no tool has answered in this chat yet" in typed("/show")
    seen = typed("run it")
    assert "✓ 13 lines · /show 1" in seen
    assert "→ read a.py\n  ✓ name = 'a.py'\n" in seen, "of one line it is that line"
    whole = typed("/show 1")
    assert "→ shell seq 12" in whole
    assert [line.strip() for line in whole.splitlines()][1:13] == [str(n) for n in range(1, 13)]
    assert "name = 'a.py'" in typed("/show")
    assert "there are 1 to 2" in typed("/show 7")
    typed("/clear")
    assert "no tool has answered" in typed("/show")


def test_whoever_resumes_sees_what_was_last_said_and_can_show_outputs(
    talk: Conversation, typed: Any
) -> None:
    typed("run it, and run it well")
    first = talk.agent.session.id
    typed("/clear")
    seen = typed(f"/resume {first}")
    assert "> run it, and run it well" in seen
    assert "2 calls of shell, read · /show 1 to /show 2" in seen
    assert "came." in seen
    assert "\n  12\n" in typed("/show 1")


def test_what_was_said_is_found_and_shown_with_what_is_around_it(typed: Any) -> None:
    typed("the walrus sleeps")
    assert "/search WORDS finds" in typed("/search")
    assert "the walrus sleeps" in typed("/search walrus")
    assert "did you mean 'walrus'?" in typed("/search walrsu")
    opened = typed("/search 1")
    assert "▶ #" in opened
    assert "All right." in opened
    assert "/recall #" in opened
    assert "Nothing is found for 'zebra crossing'" in typed("/search zebra crossing")


@pytest.mark.seed("000", 165)
def test_a_fork_goes_on_with_all_that_was_said_and_the_files(
    talk: Conversation, typed: Any
) -> None:
    assert "nothing to fork" in typed("/fork")
    typed("hello")
    typed("/add a.py")
    before = talk.agent.session
    assert f"/resume {before.id} goes back" in " ".join(typed("/fork").split())
    after = talk.agent.session
    assert after.id != before.id
    assert talk.agent.files.named() == [("a.py", False)]
    typed("only in the fork")
    assert before.refresh().head == after.info.fork < after.refresh().head


def test_a_session_is_exported_by_the_name_of_its_file(
    talk: Conversation, typed: Any, tmp_path: Path
) -> None:
    def told(text: str) -> str:
        return " ".join(typed(text).split())

    assert "nothing to export" in typed("/export")
    typed("hello")
    assert "is written, as html" in told("/export 'my talk.html'")
    assert "hello" in (tmp_path / "work" / "my talk.html").read_text()
    assert "is written, as markdown" in told("/export talk.md")
    assert "is written, as claude-code" in told("/export claude-code talk.x")
    assert "does not say which form" in told("/export talk.x")
    kept = (tmp_path / "work" / "talk.md").read_text()
    typed("more")
    typed("/export talk.md")  # nobody is there to say yes
    assert (tmp_path / "work" / "talk.md").read_text() == kept
    typed("/export")
    assert (tmp_path / "work" / f"holdfast-{talk.agent.session.id}.html").exists()


def test_tokens_of_the_next_call_and_of_files(talk: Conversation, typed: Any) -> None:
    typed("hello")
    typed("/read b.txt")
    seen = typed("/tokens")
    now, before = talk.agent.would_send(MODEL), talk.agent.session.explain_now(MODEL)
    assert f"next call   {now.tokens:,} of {now.window:,} tokens" in seen
    assert now.tokens > before.tokens, "b.txt is sent too"
    assert "last call" in seen
    assert "b.txt (read-only)" in seen
    assert "3 files" in typed("/tokens **/*.py")


def test_a_compaction_that_is_asked_for_is_told_once(talk: Conversation, typed: Any) -> None:
    for n in range(30):
        talk.agent.session.user(f"Mend wall {n}. {'It stands on the hill. ' * 60}")
        talk.agent.session.append(assistant(f"Wall {n} is mended. {'Lime and stone. ' * 60}"))
    seen = typed("/compact force")
    assert seen.count("compacted: ") == 1
    assert "nothing is lost" in seen or "in sight" in seen
    (marker,) = [one for one in talk.agent.session.entries() if isinstance(one.body, Summary)]
    assert "compacted" not in told_of(talk, AgentEvent(kind="compacted", entry=marker))
    by_itself = replace(marker, body=replace(marker.body, trigger="auto"))
    assert "compacted" in told_of(talk, AgentEvent(kind="compacted", entry=by_itself))


def told_of(talk: Conversation, what: AgentEvent) -> str:
    """What the screen says of something that the agent tells it."""
    with talk.screen.console.capture() as said:
        talk.screen.show(what)
    return said.get()


def test_patterns_name_files_as_in_a_shell(talk: Conversation, typed: Any) -> None:
    assert like("src/c.py", "src/*.py")
    assert not like("src/deep/d.py", "src/*.py")
    assert like("src/deep/d.py", "src/**/*.py")
    assert like("c.py", "**/*.py")
    assert not like("src/c.py", "*.py")
    typed("/add *.py 'two words.md'")
    assert [name for name, _ in talk.agent.files.named()] == ["a.py", "two words.md"]
    typed("/read src")
    typed("/drop src/**/*.py")
    assert len(talk.agent.files.named()) == 2
    assert "nothing here is like *.rs" in typed("/add *.rs")
    typed("/read **/*.py")
    names = [name for name, _ in talk.agent.files.named()]
    assert names == ["two words.md", "a.py", "src/c.py", "src/deep/d.py"], "nothing hidden"


def test_a_pattern_of_too_many_files_brings_none(
    talk: Conversation, typed: Any, tmp_path: Path
) -> None:
    for n in range(60):
        (tmp_path / "work" / f"many{n}").write_text("x")
    assert "60 files are like that; name at most 50" in typed("/add many*")
    assert talk.agent.files.named() == []


def test_a_file_behind_an_at_is_said_along(talk: Conversation, typed: Any) -> None:
    seen = typed('compare @src/c.py, @"two words.md" and @pytest.fixture, me@b.txt @nothing.py')
    assert "file: src/c.py, about" in seen
    assert "file: two words.md, about" in seen
    assert "b.txt" not in seen
    files = [
        part.text
        for entry in talk.agent.session.visible()
        for part in getattr(entry.body, "parts", ())
        if getattr(part, "scaffold", "") == "file"
    ]
    assert [text.partition("\n")[0] for text in files] == [
        '<file path="src/c.py">',
        '<file path="two words.md">',
    ]
    assert "name = 'src/c.py'" in files[0]


def test_a_file_larger_than_a_quarter_of_the_window_is_not_said_along(
    talk: Conversation, typed: Any, tmp_path: Path
) -> None:
    (tmp_path / "work" / "large.txt").write_text("word " * 200_000)
    typed("/model claude-haiku-4-5")
    seen = " ".join(typed("read @large.txt").split())
    assert "large.txt is not taken along: about" in seen
    assert "<file" not in str([entry.body for entry in talk.agent.session.visible()])


def offered(talk: Conversation, text: str, *, tab: bool = True) -> list[str]:
    event = CompleteEvent(text_inserted=not tab, completion_requested=tab)
    return [one.text for one in ChatCompleter(talk).get_completions(Document(text), event)]


def test_tab_completes_what_a_command_takes(talk: Conversation, typed: Any) -> None:
    typed("hello")
    first = talk.agent.session.id
    typed("/clear")
    typed("/pin never touch vendor")
    assert offered(talk, "/ex") == ["/export", "/exit"]
    assert "claude-haiku-4-5" in offered(talk, "/model claude-h")
    assert "off" in offered(talk, "/weak-model ")
    assert "codex" in offered(talk, "/policy code")
    assert offered(talk, "/resume ") == [first]
    assert offered(talk, "/unpin never") == ["never touch vendor"]
    assert offered(talk, "/add s") == ["src/"]
    assert offered(talk, "/add a.py src/") == ["src/c.py", "src/deep/"]
    assert offered(talk, "/add tw") == ["'two words.md'"]
    assert offered(talk, "/add 'two w") == ["'two words.md'"]
    slash(talk, "/add a.py")
    assert offered(talk, "/drop ") == ["a.py"]
    assert offered(talk, "/export html src/c") == ["src/c.py"]


def test_tab_completes_files_in_what_is_said(talk: Conversation) -> None:
    assert offered(talk, "look at @src/c") == ["src/c.py"]
    assert offered(talk, "look at @d.p") == ["src/deep/d.py"], "by its own name"
    assert offered(talk, "look at @two") == ['"two words.md"']
    assert offered(talk, "look at a.") == ["a.py"]
    assert offered(talk, "!cat src/") == ["src/c.py", "src/deep/"]
    assert offered(talk, "(@b.t") == ["b.txt"]
    assert offered(talk, "look at @src/c", tab=False) == ["src/c.py"], "an @ offers by itself"
    assert offered(talk, "look at a.", tab=False) == []
    assert offered(talk, "/add s", tab=False) == []


@pytest.mark.seed("000", 95)
def test_the_spinner_says_how_long_it_has_run() -> None:
    now = [0.0]
    below = Below(Console(width=30, force_terminal=False), clock=lambda: now[0])

    def drawn() -> str:
        screen = Console(width=30, record=True)
        with screen.capture() as taken:
            screen.print(below)
        return taken.get().strip()

    below.start("thinking…")
    assert drawn().endswith("thinking…")
    now[0] = 7.9
    assert drawn().endswith("thinking… 7 s")
    with below.paused():
        pass
    below.start("thinking…")
    now[0] = 75.0
    assert drawn().endswith("thinking… 1 min 15 s"), "the same goes on"
    below.start("shell make a very long command…")
    now[0] = 80.0
    assert drawn().endswith("… 5 s"), "the time is never cut"
    below.stop()


@pytest.mark.slow
def test_keys_in_a_real_terminal(tmp_path: Path) -> None:
    with talking(tmp_path, script) as begin:
        talk = begin("--allow", "shell", "--allow", "read")
        (talk.work / "a.py").write_text("x = 1\n")
        talk.letters("run it with @a.")
        talk.wait("a.py")
        talk.press("Tab")
        talk.wait("@a.py")
        talk.press("Enter")
        talk.wait("✓ 13 lines · /show 1")
        talk.wait("came.")
        talk.wait("of the window of")  # it waits for what is typed next
        talk.press("C-c")
        talk.wait("Ctrl-C again leaves")
        talk.type("hello")
        talk.wait("All right.")
        talk.wait("of the window of")
        talk.press("C-o")
        talk.wait("→ read a.py", 2)
        talk.press("C-c")
        talk.wait("Ctrl-C again leaves", 2)
        talk.press("C-c")
        talk.wait("holdfast chat -c goes on")
        talk.type("echo status $?")
        talk.wait("status 0")
        talk.run("chat", "-c")
        talk.wait("last said, ")
        talk.wait("of the window of")
        talk.type("in a while")
        talk.wait("thinking…")
        talk.press("C-d")
        talk.wait("Here it is.")
        talk.wait("holdfast chat -c goes on")
