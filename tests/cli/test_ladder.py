"""`holdfast pin`, `recall`, `ledger`, `policy`: what stays, comes back, is known, decides."""

from pathlib import Path

import pytest

import holdfast
from holdfast import ToolCall, ToolResult
from holdfast.engine.plugins import policies
from holdfast.model.message import assistant, tool
from tests.cli.running import run, terminal, values
from tests.engine.test_window import REPLY


@pytest.fixture
def worked(tmp_path: Path) -> str:
    (tmp_path / "ports.md").write_text("8080 only\n")
    with holdfast.open() as hf:
        session = hf.session(model="claude-sonnet-4-6", title="Ports", directory=tmp_path)
        session.user("Never open another port. Run the tests, please.")
        session.append(assistant(ToolCall("c1", "Bash", '{"command": "make test"}')))
        session.append(tool(ToolResult("c1", "Exit code 2\nmake: *** [test] Error 2", error=True)))
        session.append(assistant("They fail: make ends with 2."))
        session.user("word " * 9_000)
        return session.id


def test_an_entry_a_fact_and_a_file_are_pinned_listed_and_let_go(
    worked: str, tmp_path: Path
) -> None:
    assert "Nothing is pinned" in run("pin", worked, "--list").stdout
    assert "Pinned entry 1: it is in every window" in run("pin", worked, "1").stdout
    (fact,) = values("pin", worked, "--fact", "The port is 8080.")
    assert (fact["fact"], fact["entry"], fact["path"]) == ("The port is 8080.", None, "")
    (file,) = values("pin", worked, "--path", str(tmp_path / "ports.md"))
    assert file["path"] == "ports.md"
    shown = run("pin", worked, "--list").stdout
    for words in ("#1 user: Never open", "The port is 8080.", "the file ports.md", fact["pin"]):
        assert words in shown
    assert [one["since"] for one in values("pin", worked, "--list")] == [6, 7, 8]
    assert max(map(len, terminal("pin", worked, "--list").splitlines())) <= 80
    assert "No longer pinned: entry 1." in run("unpin", worked, "#1").stdout
    assert "No longer pinned: ports.md." in run("unpin", worked, "ports.md").stdout
    (ended,) = values("unpin", worked, "The port")
    assert ended["pin"] == fact["pin"]
    assert values("pin", worked, "--list") == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("pin", "{}"), "nothing is named to be pinned"),
        (("pin", "{}", "3", "--fact", "x"), "pin one thing"),
        (("pin", "{}", "3", "--list"), "--list goes alone"),
        (("pin", "{}", "77"), "did you mean 5?"),
        (("pin", "{}", "--path", "absent.md"), "cannot be pinned"),
        (("pin", "{}", "--path", "/etc/passwd"), "is absolute"),
        (("unpin", "{}", "nothing"), "Nothing is pinned."),
        (("recall", "{}", "77"), "did you mean #5?"),
        (("recall", "{}", "prt_01"), "did you mean prt_01"),
        (("recall", "{}", "what?"), "is no handle"),
        (("recall", "{}", "1", "--offset", "900"), "give a smaller --offset"),
        (("recall", "{}", "1", "--all", "--tokens", "3"), "contradict each other"),
        (("policy", "show", "aidr"), "did you mean aider?"),
        (("policy", "set", "{}", "codecs"), "did you mean codex?"),
        (("policy", "set", "{}", "holdfast"), "has the policy holdfast already"),
        (("ledger", "nope-no-such"), "there is no session"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_nearest(
    worked: str, words: tuple[str, ...], told: str
) -> None:
    done = run(*(word.format(worked) for word in words))
    assert done.exit_code == 1
    assert told in " ".join(done.stderr.split())


def test_what_left_comes_back_in_pieces_or_whole(worked: str) -> None:
    assert "Never open another port." in run("recall", worked, "1").stdout
    assert "make: *** [test] Error 2" in run("recall", worked, "#2-#4").stdout
    piece = run("recall", worked, "5", "--tokens", "50")
    assert f"characters more: holdfast recall {worked} 5 --offset" in " ".join(piece.stderr.split())
    (told,) = values("recall", worked, "5", "--tokens", "50")
    assert 0 < told["next"] < told["total"]
    (rest,) = values("recall", worked, "5", "--all", "--offset", str(told["next"]))
    assert len(told["text"]) + len(rest["text"]) == told["total"]
    assert rest["next"] == 0


def test_the_ledger_is_shown_by_sections_and_fits(worked: str) -> None:
    shown = run("ledger", worked).stdout
    for words in ("Open requests · ", "Constraints · 1", "Never open another port.",
                  "Commands that failed · 1", "make test → failed, exit 2"):  # fmt: skip
        assert words in shown, words
    wide = terminal("ledger", worked)
    assert max(map(len, wide.splitlines())) <= 80
    assert "--full shows all" in wide
    assert "--full shows all" not in terminal("ledger", worked, "--full")
    (known,) = values("ledger", worked)
    assert known["commands"][0]["exit"] == 2
    assert known["subtasks"] == []
    with holdfast.open() as hf:
        empty = hf.session().id
    assert "Nothing is known of it yet" in run("ledger", empty).stdout


def test_policies_are_listed_shown_and_given(worked: str) -> None:
    assert [one["name"] for one in values("policy", "list")] == list(policies())
    assert "As Aider assembles" in run("policy", "list").stdout
    assert max(map(len, terminal("policy", "list").splitlines())) <= 80
    shown = " ".join(run("policy", "show", "holdfast").stdout.split())
    for words in ("prune tool results are cleared beyond the newest 30,000 tokens",
                  "prompts holdfast", "8% of the window (1,500 tokens at least,"):  # fmt: skip
        assert words in shown, words
    (told,) = values("policy", "show", "aider")
    assert told["prompts"] == ["aider"]
    assert told["prune"] is None
    done = run("policy", "set", worked, "codex")
    assert "is managed by codex from entry 6 on, no longer by holdfast." in done.stdout
    (told,) = values("sessions")
    assert told["policy"] == "codex"
    assert "#6 Switch · policy codex" in run("show", worked, "--all").stdout


def test_a_policy_that_was_given_holds_for_what_is_shown_next(worked: str) -> None:
    with holdfast.open() as hf:
        session = hf.session(worked)
        session.window().request("anthropic")
        session.reply(REPLY)
    (before,) = values("context", worked)
    run("policy", "set", worked, "codex")
    (after,) = values("context", worked)
    assert after["room"] != before["room"]


@pytest.mark.parametrize("name", policies())
def test_every_policy_can_be_told_within_a_screen(name: str) -> None:
    shown = terminal("policy", "show", name)
    assert max(map(len, shown.splitlines())) <= 80
    assert "prompts" in shown


def test_a_policy_of_ones_own_is_kept_by_its_whole_path(
    worked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('like = "holdfast"\nname = "mine"\nabout = "Mine."\n')
    (told,) = values("policy", "set", worked, "mine.toml")
    assert told["policy"] == str(tmp_path / "mine.toml")
    assert "Mine." in run("policy", "show", "mine.toml").stdout


@pytest.mark.parametrize(
    ("word", "meant"),
    [("summarize", "compact"), ("policies", "policy list"), ("recal", "recall"), ("pins", "pin")],
)
def test_what_people_try_leads_here(word: str, meant: str) -> None:
    assert meant in run(word).stderr
    assert "'list'" in run("policy", "ls").stderr
