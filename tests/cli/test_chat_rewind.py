"""`/rewind` in a real terminal: files and conversation go back, and come again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.model.message import Message
from holdfast.testing.strict.script import Ask, answer
from tests.cli.talking import Begin, talking
from tests.workspace.trees import tree
from tools.tmux import Terminal

STEPS = {
    "set the limit": Ask("write", {"path": "limit.py", "content": "LIMIT = 10\n"}),
    "make the data": Ask(
        "shell", {"command": "mkdir data && echo one > data/a.txt && echo port=80 > app.ini"}
    ),
    "raise the limit": Ask("edit", {"path": "limit.py", "old": "LIMIT = 10", "new": "LIMIT = 99"}),
}


def script(asked: Any) -> Any:
    """A model that does the step that was asked for last."""
    if not asked.body.get("tools"):
        return answer("Files were changed, as the user asked.")
    content = asked.body["messages"][-1]["content"]
    said = content if isinstance(content, str) else str(content[-1])
    if "tool_result" in said:
        return answer("Done.")
    return next((answer(ask) for words, ask in STEPS.items() if words in said), answer("Yes."))


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    with talking(tmp_path, script) as begun:
        yield begun


def worked(begin: Begin) -> Terminal:
    """Three prompts that changed files, the second one by a command."""
    talk = begin("--allow", "write", "--allow", "edit", "--allow", "shell")
    for number, words in enumerate(STEPS, 1):
        talk.type(words)
        talk.wait("Done.", times=number)
        talk.wait("of the window of")
    return talk


@pytest.mark.seed("000", 121, 194)
def test_files_and_conversation_go_back_and_come_again(begin: Begin, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "app.ini").write_text("port=8080\n")
    (work / "mine.txt").write_text("before\n")
    talk = worked(begin)
    (work / "app.ini").write_text("port=80\nby hand\n")
    (work / "mine.txt").write_text("by hand\n")
    before = tree(work)
    talk.type("/rewind")
    seen = talk.wait("back to before which?")
    assert "set the limit" in seen
    assert "3 files" not in seen
    talk.type("2")
    seen = talk.wait("which, then Enter")
    assert "-LIMIT = 99" not in seen
    assert "+LIMIT = 99" in seen
    assert "app.ini: was changed by somebody else since" in seen
    assert tree(work) == before
    talk.type("1")
    talk.wait("k = keep it so / r = put it back")
    talk.type("k")
    talk.wait("files and conversation are as before it; /undo #")
    assert tree(work) == {
        "limit.py": ("file", 0o644, b"LIMIT = 10\n"),
        "app.ini": ("file", 0o644, b"port=80\nby hand\n"),
        "mine.txt": ("file", 0o644, b"by hand\n"),
    }
    talk.wait("> make the data")
    talk.press("C-u")
    with holdfast.open(tmp_path / "log.db") as hf:
        session = hf.session(hf.sessions()[0].id)
        said = [one.body.text for one in session.visible() if isinstance(one.body, Message)]
        assert "set the limit" in said
        assert "make the data" not in said
    talk.type("/undo")
    talk.wait("undone; what was hidden is visible again")
    assert tree(work) == before
    talk.type("/diff 2")
    assert "data/a.txt  new file +1 -0" in talk.wait("2 files, +2 -1 lines")


@pytest.mark.seed("000", 120, 194)
def test_escape_twice_asks_where_to_go_back_to(begin: Begin) -> None:
    talk = worked(begin)
    talk.press("Escape", "Escape")
    talk.wait("back to before which?")
    talk.type("q")
    talk.wait("of the window of")
    talk.type("/rewind 3")
    talk.wait("which, then Enter")
    talk.type("5")
    talk.wait("→")
    talk.type("/checkpoints")
    seen = talk.wait("covered before a command runs")
    assert "changes of files" in seen
