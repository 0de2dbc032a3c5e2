"""`holdfast compact`, `undo` and `redo`: shown first, applied when agreed to, and taken back."""

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import ToolCall, ToolResult
from holdfast.cli.context.plan_view import in_sight
from holdfast.engine.blocking import Session
from holdfast.engine.knowledge.instruction_files import InstructionReader
from holdfast.model.ledger import State
from holdfast.model.log import Clear, PartRef, Pin
from holdfast.model.message import assistant, tool
from holdfast.testing import StrictServer
from tests.cli.running import program, run, terminal, values, with_a_person
from tests.knowledge.projects import approve

MODEL = "claude-sonnet-4-6"


def spoken(session: Session, turns: int = 10) -> str:
    """Some turns of work in a session; its id."""
    for turn in range(turns):
        session.user(f"Please look at src/part_{turn}.py and say whether it is fine.")
        session.append(
            assistant(ToolCall(f"c{turn}", "Bash", f'{{"command": "cat src/part_{turn}.py"}}'))
        )
        session.append(tool(ToolResult(f"c{turn}", f"line of part {turn}\n" * 120)))
        session.append(assistant(f"The part number {turn} is fine, as far as I can see."))
    return session.id


@pytest.fixture
def worked(tmp_path: Path) -> str:
    with holdfast.open() as hf:
        return spoken(hf.session(model=MODEL, title="Parts", directory=tmp_path))


def head(id: str) -> int:
    with holdfast.open() as hf:
        return hf.session(id).info.head


def test_a_preview_begins_with_a_verdict_and_changes_nothing(worked: str) -> None:
    before = head(worked)
    lines = run("compact", worked, "--preview").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["verdict", "why", "does", "ledger", "Nothing"]
    shown = " ".join(" ".join(lines).split())
    for words in (
        "pay: saves $", "costs $", " → ", "of the window of 1,000,000", "it was asked for",
        "a summary for ", "written without a model", "stay word for word", "facts in sight",
        "--details shows the summary and every number",
    ):  # fmt: skip
        assert words in shown, words
    assert head(worked) == before


def test_what_a_summary_does_not_name_is_one_recall_away() -> None:
    counts: dict[State, int] = {"retained": 9, "recoverable": 3, "missing": 2, "changed": 0}
    told = in_sight(counts, "/recall #N")
    assert told == (
        "9 facts in sight, 5 one recall away (2 of them not named in the summary: `/recall #N`)"
    )
    assert in_sight({**counts, "recoverable": 0, "missing": 0}, "") == "9 facts in sight"


def test_the_details_show_all_and_change_nothing(worked: str) -> None:
    before = head(worked)
    shown = run("compact", worked, "--preview", "--details").stdout
    for words in (
        "Summary", "step summarise, by the policy holdfast; written without a model",
        "kept", "summarised", "window", "price saves $", "costs $", "ledger", "retained",
        "recoverable", "missing", "changed", "Nothing was changed",
    ):  # fmt: skip
        assert words in " ".join(shown.split()), words
    assert head(worked) == before


def test_a_preview_as_a_value_has_the_numbers(worked: str) -> None:
    (told,) = values("compact", worked, "--preview")
    assert told["marker"] is None
    assert told["window"]["after"] < told["window"]["before"] <= told["window"]["room"]
    assert told["tokens"]["leave"] - told["tokens"]["come"] == (
        told["window"]["before"] - told["window"]["after"]
    )
    assert told["messages"]["kept"] + told["messages"]["summarised"] == 40
    assert told["decision"]["gain_usd"] > 0
    assert told["decision"]["gain_tokens"] is None
    assert sum(told["retention"].values()) > 0
    assert told["summary"]
    assert told["covers"][0][0] == 1


def test_a_stretch_is_compacted_and_what_is_around_it_kept(worked: str) -> None:
    stretch = ("--since", "5", "--upto", "24")
    shown = " ".join(run("compact", worked, *stretch, "--preview", "--details").stdout.split())
    assert "of 5–24" in shown
    assert "messages: 1–4, 25–40" in shown


def test_where_nobody_can_be_asked_it_is_applied_and_says_how_to_undo(worked: str) -> None:
    done = run("compact", worked)
    assert done.exit_code == 0
    told = done.stdout.splitlines()[-1]
    assert told.startswith("Compacted, as entry 41: a summary stands for entries 2–")
    for words in ("since it was asked for", "made without a model", " → ", "`holdfast undo "):
        assert words in told
    assert "#41 Summary · summarise" in run("show", worked).stdout


@pytest.mark.seed("004", 20)
def test_a_person_is_asked_and_may_say_no(worked: str) -> None:
    done = with_a_person("compact", worked, answer=b"n\n")
    assert done.returncode == 1
    assert "Compact it?" in done.stderr
    assert "Nothing was changed." in done.stderr
    assert head(worked) == 40
    assert with_a_person("compact", worked, answer=b"y\n").returncode == 0
    assert head(worked) == 41


def test_a_terminal_shows_it_within_its_width(worked: str) -> None:
    shown = terminal("compact", worked, "--preview", "--details")
    assert max(map(len, shown.splitlines())) <= 80
    assert "summarised" in shown


def test_yes_asks_nobody(worked: str) -> None:
    assert with_a_person("compact", worked, "--yes", answer=b"").returncode == 0
    assert head(worked) == 41


def test_undo_and_redo_say_what_came_back_and_what_left(worked: str) -> None:
    (made,) = values("compact", worked)
    (back,) = values("undo", worked)
    assert (back["marker"], back["kind"], back["step"]) == (41, "Summary", "summarise")
    assert back["messages"] == {"back": made["messages"]["summarised"], "left": 0}
    assert back["window"]["after"] == made["window"]["before"] > back["window"]["before"]
    (again,) = values("redo", worked, "41")
    assert again["messages"] == {"back": 0, "left": made["messages"]["summarised"]}
    shown = run("undo", worked, "#41").stdout
    assert "Undone, as entry 44: the summarise of #41." in shown
    assert f"Back in the window: {made['messages']['summarised']} messages (" in shown
    assert "Done again, as entry 45" in run("redo", worked).stdout


def test_what_was_cleared_comes_back_too(tmp_path: Path) -> None:
    with holdfast.open() as hf:
        id = spoken(hf.session(model=MODEL, directory=tmp_path))
        cleared = (PartRef(3, 0), PartRef(7, 0))
        hf.session(id).append(Clear(parts=cleared, tokens_before=900, tokens_after=40))
    (told,) = values("undo", id)
    assert (told["kind"], told["parts"]) == ("Clear", {"back": 2, "left": 0})
    assert "Out of the window: what was cleared of 2 parts." in run("redo", id).stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("compact", "{}", "--policy", "holdfest"), "did you mean holdfast?"),
        (("compact", "{}", "--since", "99"), "did you mean 40?"),
        (("compact", "{}", "-m", "claude-sonet-4-6"), "did you mean claude-sonnet-4-6"),
        (("compact", "{}", "--since", "30", "--upto", "3"), "nothing to compact between"),
        (("undo", "{}"), "there is no compaction to undo"),
        (("undo", "{}", "3"), "in force are none"),
        (("undo", "{}", "99"), "did you mean 40?"),
        (("redo", "{}"), "nothing that was undone"),
        (("compact", "nope-no-such"), "there is no session"),
    ],
)
def test_what_cannot_be_done_is_told_with_what_can(
    worked: str, words: tuple[str, ...], told: str
) -> None:
    done = run(*(word.format(worked) for word in words))
    assert done.exit_code == 1
    assert told in " ".join(done.stderr.split())
    assert head(worked) == 40


def test_nothing_to_compact_is_said_so() -> None:
    with holdfast.open() as hf:
        id = spoken(hf.session(model=MODEL), turns=0)
        hf.session(id).user("hello")
        bare = hf.session()
        bare.user("hello")
    done = run("compact", id)
    assert done.exit_code == 1
    assert "there is nothing to compact" in done.stderr
    assert "-m MODEL" in run("compact", bare.id).stderr


def test_a_plan_that_was_overtaken_says_to_do_it_again(
    worked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = Session.apply

    def late(self: Session, plan: Any) -> Any:
        with holdfast.open() as hf:
            hf.session(worked).append(Pin(fact="meanwhile"))
        return apply(self, plan)

    monkeypatch.setattr(Session, "apply", late)
    done = run("compact", worked, "--json")
    assert done.exit_code == 1
    assert '"kind": "Conflict"' in done.stderr
    assert '"do": "do it again"' in done.stderr
    assert head(worked) == 41


def editor(folder: Path, script: str) -> str:
    """A program that edits the file it is given."""
    made = folder / "editor.sh"
    made.write_text(f"#!/bin/sh\n{script}\n")
    made.chmod(0o700)
    return str(made)


def test_the_summary_may_be_edited_first(worked: str, tmp_path: Path) -> None:
    script = f'stat -c %a "$1" > {tmp_path}/mode; echo "All ten parts are fine." > "$1"'
    done = run("compact", worked, "--edit", VISUAL=editor(tmp_path, script), EDITOR="false")
    assert done.exit_code == 0, done.stderr
    shown = run("show", worked).stdout
    assert "All ten parts are fine." in shown
    assert "asked for, and edited by hand" in shown
    assert (tmp_path / "mode").read_text().strip() == "600"


def test_what_an_edited_summary_invents_is_said(worked: str, tmp_path: Path) -> None:
    script = 'echo "The file src/never.py was changed." > "$1"'
    done = run("compact", worked, "--edit", VISUAL=editor(tmp_path, script))
    assert "objected" in done.stdout
    assert "src/never.py" in done.stdout


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        (': > "$1"', 1, "The summary was emptied, so nothing was changed."),
        ("exit 3", 1, "ended with 3, so nothing was changed"),
        ("true", 0, "The summary was left as it is."),
    ],
)
def test_it_says_what_an_editor_did(
    worked: str, tmp_path: Path, script: str, code: int, told: str
) -> None:
    done = run("compact", worked, "--edit", VISUAL=editor(tmp_path, script))
    assert done.exit_code == code
    assert told in " ".join(done.stderr.split())
    assert head(worked) == (40 if code else 41)


def test_an_editor_that_is_not_there_changes_nothing(worked: str) -> None:
    done = run("compact", worked, "--edit", VISUAL="/no/such/editor --wait")
    assert done.exit_code == 1
    assert "set VISUAL or EDITOR" in " ".join(done.stderr.split())
    assert head(worked) == 40


def test_what_the_project_wants_is_shown_and_that_no_model_follows_it(
    worked: str, tmp_path: Path
) -> None:
    (tmp_path / "AGENTS.md").write_text("# Compact instructions\nKeep \x1b[31mports.\n")
    approve(InstructionReader(tmp_path), "AGENTS.md")
    shown = run("compact", worked, "--preview", "--focus", "the names").stdout
    assert "the names (no model writes this summary: what has these words is quoted first)" in shown
    assert "AGENTS.md says: Keep [U+001B][31mports." in shown
    (told,) = values("compact", worked, "--preview")
    assert told["focus"] == {"asked": "", "file": "AGENTS.md", "written": "Keep [U+001B][31mports."}


def asking(worked: str, text: str, *words: str, **environment: str) -> Any:
    """What the command says where a server answers with this text; and what it was asked."""
    with StrictServer(lambda asked: text) as server:
        told = {"ANTHROPIC_API_KEY": "sk-any", "ANTHROPIC_BASE_URL": server.url("anthropic")}
        done = program("compact", worked, "--ask", *words, **{**told, **environment})
        return done, server.asked


def test_a_model_writes_it_where_it_is_asked_to(worked: str, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("## Compact instructions\n\nKeep the ports.\n")
    approve(InstructionReader(tmp_path), "CLAUDE.md")
    text = "<summary>The user wants each part looked at; those looked at so far are fine.</summary>"
    done, asked = asking(worked, text, "--focus", "the names")
    assert done.returncode == 0, done.stderr
    assert "written by claude-sonnet-4-6 for $" in done.stdout
    assert "quoted first" not in done.stdout
    assert "the names\\n\\nKeep the ports." in str(asked[0].body)
    assert "those looked at so far are fine" in run("show", worked).stdout
    (told,) = values("context", worked)
    assert told["markers"][0]["model"] == MODEL
    assert told["markers"][0]["cost_usd"] > 0


def test_where_no_model_writes_it_nothing_is_changed(worked: str) -> None:
    invented = "The file src/never/was.py was changed, and `make all` exits with 0."
    for done, _ in (
        asking(worked, invented),
        asking(worked, "any", ANTHROPIC_API_KEY=""),
    ):
        assert done.returncode == 1
        assert "so nothing was changed" in done.stderr
        assert "leave out --ask" in done.stderr
    assert head(worked) == 40


def test_hostile_words_do_not_act_on_a_terminal(tmp_path: Path) -> None:
    with holdfast.open() as hf:
        session = hf.session(model=MODEL, directory=tmp_path)
        session.user("\x1b]0;owned\x07 do it")
        session.append(assistant("\x1b]0;owned\x07 is done, and src/owned.py is changed."))
        id = spoken(session)
    whole = ("compact", id, "--preview", "--details")
    for words in (whole, ("ledger", id), ("recall", id, "1", "--all")):
        assert "\x1b" not in run(*words).stdout
        assert "owned" in run(*words).stdout


@pytest.mark.seed("001", 66)
def test_context_and_show_say_what_a_compaction_was_made_by(worked: str) -> None:
    run("compact", worked)
    shown = " ".join(run("context", worked).stdout.split())
    assert "summarise · manual · " in shown
    assert "policy holdfast · made without a model · " in shown
    assert " · it was asked for" in shown
    assert f"`holdfast undo {worked} 41` takes it back" in shown
    (told,) = values("context", worked)
    (marker,) = told["markers"]
    assert (marker["step"], marker["trigger"], marker["policy"]) == (
        "summarise", "manual", "holdfast",
    )  # fmt: skip
    assert marker["undo"] == f"holdfast undo {worked} 41"
    assert marker["tokens_after"] < marker["tokens_before"]
    assert marker["prompt_after"] == told["tokens"] < marker["prompt_before"]
    shown = run("show", worked, "--all").stdout
    assert "#41 Summary · summarise · covers 1–" in shown
    assert f"holdfast undo {worked} 41" in shown
    seen = run("show", worked).stdout
    assert "requests" in seen.lower()  # the ledger beside it
    assert "What can be brought back word for word" in seen
    run("undo", worked)
    assert f"holdfast undo {worked} 41" not in run("show", worked, "--all").stdout


def test_the_file_that_is_edited_is_gone_afterwards(worked: str, tmp_path: Path) -> None:
    done = run("compact", worked, "--edit", VISUAL=editor(tmp_path, f'echo "$1" > {tmp_path}/at'))
    assert done.exit_code == 0
    assert not Path((tmp_path / "at").read_text().strip()).exists()
