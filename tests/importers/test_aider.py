"""Aider's chat histories: whose a line is, runs, fences that nobody closed, usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.client import Holdfast
from holdfast.importers.aider import Aider
from holdfast.model.message import Message, Record, Text
from holdfast.testing.contracts import ImporterContract
from tests.importers.aider_writing import BANNER, EDIT, START, STORY, TOKENS, asked
from tests.importers.looking import bring, calls_of, only, parts, words


def brought(hf: Holdfast, tmp_path: Path, text: str) -> list[list[tuple[str, str]]]:
    """What was said in each session: who, and what."""
    file = tmp_path / "project" / ".aider.chat.history.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    bring(hf, file)
    return [said(hf, one.id) for one in sorted(hf.every_session(), key=lambda one: one.created)]


def said(hf: Holdfast, id: str) -> list[tuple[str, str]]:
    made: list[tuple[str, str]] = []
    for entry in hf.session(id).visible():
        assert isinstance(entry.body, Message)
        (text,) = (part for part in entry.body.parts if isinstance(part, Text))
        made.append(("console" if text.scaffold else entry.body.role, text.text))
    return made


@pytest.mark.seed("000", 14)
def test_every_line_is_somebody_s(hf: Holdfast, tmp_path: Path) -> None:
    (run,) = brought(hf, tmp_path, STORY)
    (shown,) = {words for who, words in run if who == "console" and words.startswith("Tokens")
                and "Applied" in words}  # fmt: skip
    assert run == [
        ("user", "Change it.\n\nAll of it."),
        ("assistant", EDIT.strip()),
        ("console", shown),
        ("user", "/run make"),
        ("console", "one\ntwo\n\nthree\nAdd the output to the chat? y"),
        ("assistant", "It works."),
        ("console", TOKENS[2:].strip()),
    ]
    assert shown.split("\n")[1:] == ["Applied edit to a.py", "Commit abc1234 feat: change it"]


def test_a_run_knows_its_model_its_place_and_its_cost(hf: Holdfast, tmp_path: Path) -> None:
    brought(hf, tmp_path, STORY)
    (info,) = hf.every_session()
    assert (info.model, info.directory) == ("claude-sonnet-4-6", str(tmp_path / "project"))
    calls = calls_of(hf, hf.session(info.id))
    assert [(c.usage.input, c.usage.output, c.cost, c.price_version) for c in calls] == [
        (4_200, 310, 20_000_000, "told")
    ] * 2
    (banner,) = (part for part in parts(hf.session(info.id)) if isinstance(part, Record))
    assert banner.data.decode().startswith("Aider v0.86.1\nMain model")


@pytest.mark.seed("000", 13)
def test_each_run_is_a_session_and_one_without_words_is_told(hf: Holdfast, tmp_path: Path) -> None:
    other = START.replace("03:04:05", "04:00:00")
    runs = brought(hf, tmp_path, STORY + other + other + BANNER + asked("Hello.") + START + BANNER)
    assert [run[0][1] for run in runs] == ["Change it.\n\nAll of it.", "Hello."]
    file = tmp_path / "project" / ".aider.chat.history.md"
    file.write_text(file.read_text() + "\n")
    (report,) = bring(hf, file)
    assert [(p.what, p.severity) for p in report.problems] == [
        ("a run in which nothing was said", "notice")
    ]


@pytest.mark.parametrize("end", ["> Applied edit to a.py  \n", ">   \n> Model m has hit it  \n"])
def test_a_fence_that_nobody_closed_ends_with_the_reply(
    end: str, hf: Holdfast, tmp_path: Path
) -> None:
    cut = f"{START}{asked('Go.')}\n```python\n> no console  \n\n{end}{asked('And now?')}"
    (run,) = brought(hf, tmp_path, cut)
    assert [who for who, _ in run] == ["user", "assistant", "console", "user"]
    assert run[1][1] == "```python\n> no console  "
    shown = end.removeprefix(">   \n")[2:].strip()
    assert run[2][1].strip() == shown


@pytest.mark.seed("000", 15)
@pytest.mark.parametrize(
    "fence",
    [("~~~~", "~~~~"), ("<source>py", "</source>"), ("<<<<<<< SEARCH", ">>>>>>> REPLACE")],
)
def test_what_stands_in_a_fence_is_the_reply_s(
    fence: tuple[str, str], hf: Holdfast, tmp_path: Path
) -> None:
    reply = f"{fence[0]}\n> a  \n```\n> b  \n{fence[1]}"
    (run,) = brought(hf, tmp_path, f"{START}{asked('Go.')}\n{reply}\n\n> Shown.  \n")
    assert run == [("user", "Go."), ("assistant", reply), ("console", "Shown.")]


def test_two_projects_of_the_same_second_are_two_sessions(hf: Holdfast, tmp_path: Path) -> None:
    for project, typed in (("one", "Here."), ("two", "There.")):
        (tmp_path / project).mkdir()
        (tmp_path / project / ".aider.chat.history.md").write_text(START + asked(typed))
    bring(hf, tmp_path / "one", tmp_path / "two")
    assert sorted(said(hf, one.id)[0][1] for one in hf.every_session()) == ["Here.", "There."]


def test_a_history_that_lost_its_beginning_is_read_all_the_same(
    hf: Holdfast, tmp_path: Path
) -> None:
    file = tmp_path / "old.md"
    file.write_text(f"the end of it.\n{asked('Next?')}{STORY}")
    (report,) = bring(hf, file)
    assert [(p.what, p.line) for p in report.problems] == [("a run whose beginning is missing", 1)]
    first = min(hf.every_session(), key=lambda one: one.created)
    assert said(hf, first.id) == [("assistant", "the end of it."), ("user", "Next?")]


class TestAider(ImporterContract):
    def importer(self) -> Aider:
        return Aider()

    def example(self, place: Path) -> Path:
        later = STORY.replace("03:04:05", "05:00:00")
        (place / ".aider.chat.history.md").write_text(STORY + later)
        return place / ".aider.chat.history.md"


def test_a_beginning_inside_a_fence_of_a_reply_is_the_replys(hf: Holdfast, tmp_path: Path) -> None:
    quoted = "```\n# aider chat started at 2026-01-02 03:04:06\n\nand so on\n```\nThat is it."
    told = START + BANNER + asked("Show me.") + f"\n{quoted}\n\n{TOKENS}"
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(told)
    bring(hf, path)
    assert words(only(hf))[:2] == ["Show me.", quoted]


def test_a_fence_that_nobody_closed_ends_with_the_next_run(hf: Holdfast, tmp_path: Path) -> None:
    told = START + BANNER + asked("Show me.") + "\n```\nhalf a file\n" + START + BANNER
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(told + asked("Again.") + f"\nHere.\n\n{TOKENS}")
    bring(hf, path)
    assert len(list(hf.every_session())) == 2


def test_a_history_without_its_blanks_is_read_as_far_as_it_can_be_told(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = START + BANNER + asked("Show me.\nAll of it.") + f"\nHere.\n\n> Quoted.\n\n{TOKENS}"
    told += asked("More.") + f"\nThere.\n\n{TOKENS}"
    path = tmp_path / ".aider.chat.history.md"
    path.write_text("\n".join(map(str.rstrip, told.split("\n"))))
    bring(hf, path)
    shown = words(only(hf))
    assert shown[:2] == ["Show me.\nAll of it.", "Here.\n\n> Quoted."]
    assert [one for one in shown if "Tokens" not in one][2:] == ["More.", "There."]


@pytest.mark.parametrize("blanks", [True, False])
def test_a_question_of_several_lines_on_the_command_line_is_the_banners(
    hf: Holdfast, tmp_path: Path, blanks: bool
) -> None:
    command = "> aider --message Say when.\n\nWrite it\ndown. notes.txt  \n"
    told = f"{START}{command}{BANNER}{asked('Say when.')}\nOn Tuesdays.\n\n{TOKENS}"
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(told if blanks else "\n".join(map(str.rstrip, told.split("\n"))))
    bring(hf, path)
    assert words(only(hf))[:2] == ["Say when.", "On Tuesdays."]
