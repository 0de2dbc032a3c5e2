"""Sessions are listed, found by a beginning, forked, renamed, archived."""

from datetime import datetime
from pathlib import Path

import pytest
from rich.cells import cell_len

import holdfast
from holdfast.cli.ui.format import short_model
from holdfast.engine.bridge import drive
from holdfast.model.reply import Call
from tests.cli.running import run, terminal, values


def begin(many: int = 1, **named: str) -> list[str]:
    with holdfast.open() as hf:
        made = [hf.session(**named) for _ in range(many)]  # type: ignore[arg-type]
        for number, session in enumerate(made):
            session.user(f"question {number}")
    return [session.id for session in made]


def test_without_the_default_store_it_explains_how_to_begin_and_makes_none(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_STORE")
    done = run("sessions")
    assert done.exit_code == 0
    assert "No sessions yet" in done.stdout
    assert "holdfast demo" in done.stdout
    assert not (tmp_path / "data").exists()
    assert values("sessions") == []
    assert "there are no sessions yet" in run("show", "last").stderr


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",), ("show", "last"), ("search", "word"), ("context", "last"),
        ("explain", "last"), ("fork", "last"), ("rename", "last", "x"), ("archive", "last"),
        ("erase", "last", "--yes"), ("doctor",),
    ],
)  # fmt: skip
def test_a_store_that_was_named_has_to_be_there(words: tuple[str, ...], own_store: Path) -> None:
    elsewhere = str(own_store.with_name("typo.db"))
    for named, place in (((), own_store), (("--store", elsewhere), elsewhere)):
        done = run(*words, *named)
        assert done.exit_code == 1
        assert f"there is no store at {place}" in done.stderr
        assert done.stdout == ""
    assert not own_store.parent.exists()


def test_the_last_of_no_sessions_is_explained(own_store: Path) -> None:
    holdfast.open().close()
    assert "there are no sessions yet" in run("show", "last").stderr
    (id,) = begin()
    run("archive", id)
    assert "every session is archived" in run("show", "last").stderr


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_table_fits_its_width_in_every_script(columns: str) -> None:
    begin(title="修复登录处理程序" * 9, model="m" * 60, directory="/some/where/very/deep")
    begin(title="👩‍👩‍👧‍👦🇩🇪" * 40)
    begin(title="a\nb\x1b[2J" + "x" * 500)
    begin()
    done = run("sessions", COLUMNS=columns, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b" not in done.stdout
    assert max(map(cell_len, done.stdout.splitlines())) <= int(columns)
    assert "question 0" in done.stdout
    assert len(done.stdout.splitlines()) == 6


def test_pages_follow_one_another() -> None:
    ids = begin(5)
    first = run("sessions", "--limit", "2").stderr
    assert "… more: holdfast sessions --after " in first
    after = first.split("--after ")[1].split()[0]
    second = values("sessions", "--limit", "2", "--after", after)
    rest = values("sessions", "--after", second[-1]["id"])
    newest = values("sessions", "--limit", "2")
    assert [one["id"] for one in (*newest, *second, *rest)] == sorted(ids, reverse=True)
    assert "No more" in run("sessions", "--after", rest[-1]["id"]).stdout


def test_a_shortened_id_names_its_session() -> None:
    begin(30)
    screen = run("sessions", "--limit", "30", FORCE_COLOR="1", NO_COLOR="1").stdout
    for line in screen.splitlines()[1:31]:
        assert run("show", line.split()[0]).exit_code == 0


def test_only_one_project_is_listed(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    (inside / ".git").mkdir(parents=True)
    (inside / "src").mkdir()
    (wanted,) = begin(directory=str(inside))
    begin(directory=str(tmp_path))
    assert [one["id"] for one in values("sessions", "--project", str(inside / "src"))] == [wanted]
    nothing = run("sessions", "--project", str(tmp_path / "else"))
    assert "No session of" in nothing.stdout


def test_a_project_may_be_named_as_it_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "web").mkdir()
    (wanted,) = begin(directory="/srv/web")
    (other,) = begin(directory="/srv/shop")
    monkeypatch.chdir(tmp_path)
    assert [one["id"] for one in values("sessions", "--project", "web")] == [wanted]
    assert [one["id"] for one in values("sessions", "--project", "/srv/shop")] == [other]
    begin(directory="/home/web")
    done = run("sessions", "--project", "web")
    assert done.exit_code == 1
    assert "/home/web, /srv/web" in done.stderr


def test_a_pipe_gets_whole_titles_and_names_and_no_hints() -> None:
    title = "Why the login page answers 500 since the morning of the migration"
    begin(
        title=title, model="anthropic/claude-sonnet-4-6-20260101", directory="/srv/some-long-name"
    )
    (line,) = run("sessions").stdout.splitlines()
    (value,) = values("sessions")
    id, *facts, changed, _cost = line.split("\t")
    assert id == value["id"]
    assert facts == [title, "/srv/some-long-name", "anthropic/claude-sonnet-4-6-20260101", "1"]
    assert datetime.fromisoformat(changed).timestamp() == value["updated"] // 1000
    screen = run("sessions", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "See one with" in screen
    assert "Why the login page answ" in screen
    assert "sonnet-4-6 " in screen


def test_a_line_in_a_pipe_is_bounded_and_an_unknown_cost_is_unknown() -> None:
    begin(title="word " * 2_000)
    (line,) = run("sessions").stdout.splitlines()
    title = line.split("\t")[1]
    assert len(title) <= 200
    assert title.endswith("…")
    (value,) = values("sessions")
    assert len(value["title"]) == 10_000
    with holdfast.open() as hf:
        call = Call(id="c", session=value["id"], started=1_000, model="m", outcome="done")
        drive(hf.engine.store.calls.record(call))
    (value,) = values("sessions")
    assert (value["cost_usd"], value["unpriced_calls"]) == (None, 1)
    assert run("sessions").stdout.strip().endswith("\t?")


def test_a_pipe_gets_every_session_and_a_screen_the_newest() -> None:
    ids = begin(25, title="a\tb\nc")
    lines = [line.split("\t") for line in run("sessions").stdout.splitlines()]
    assert [line[0] for line in lines] == sorted(ids, reverse=True)
    assert {(len(line), line[1]) for line in lines} == {(7, "a b c")}
    assert len(values("sessions")) == 25
    assert len(run("sessions", "--limit", "3").stdout.splitlines()) == 3
    done = run("sessions", FORCE_COLOR="1", NO_COLOR="1")
    assert len(done.stdout.splitlines()) == 22
    assert "… more: holdfast sessions --after " in done.stderr


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("claude-sonnet-4-6-20260101", "sonnet-4-6"),
        ("openrouter/anthropic/claude-opus-4.5", "opus-4.5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "haiku-4-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("claude-2", "claude-2"),
        ("", ""),
    ],
)
def test_a_model_is_listed_by_what_tells_it_apart(model: str, short: str) -> None:
    assert short_model(model) == short


def test_json_has_every_key_always() -> None:
    begin()
    (one,) = values("sessions")
    assert set(one) == {
        "id", "title", "opening", "project", "directory", "model", "policy", "agent", "parent",
        "fork", "created", "updated", "compacted", "archived", "head", "cost_usd", "unpriced_calls",
        "lines_added", "lines_removed",
    }  # fmt: skip
    assert (one["opening"], one["head"], one["parent"]) == ("question 0", 1, "")


def test_a_session_is_forked_renamed_and_archived() -> None:
    (id,) = begin()
    (made,) = values("fork", id, "--at", "1")
    assert (made["parent"], made["fork"]) == (id, 1)
    assert "shares the entries up to 1" in run("fork", id[:20]).stdout
    assert "“new \x07name”".replace("\x07", "␇") in run("rename", id, "new \x07name").stdout
    assert run("archive", id).exit_code == 0
    assert [one["id"] for one in values("sessions", "--archived")] == [id]
    assert id not in [one["id"] for one in values("sessions")]
    assert run("archive", id, "--undo").exit_code == 0
    assert "No session is archived" in run("sessions", "--archived").stdout


def test_what_changes_nothing_is_refused() -> None:
    first, second = begin(2)
    assert "is not archived" in run("archive", first, "--undo").stderr
    assert "no session is archived" in run("archive", "last", "--undo").stderr
    run("archive", first)
    assert "is archived already" in run("archive", first).stderr
    with holdfast.open() as hf:
        hf.session(second).user("newer")
    assert first in run("archive", "last", "--undo").stdout
    for title in ("", "  "):
        done = run("rename", first, title)
        assert done.exit_code == 1
        assert "give it a title" in done.stderr


def test_last_is_the_session_that_changed_last() -> None:
    first, _ = begin(2)
    run("rename", first, "older")
    with holdfast.open() as hf:
        hf.session(first).user("again")
    assert run("show", "last").stdout.startswith("older")


def test_the_opening_is_what_somebody_said_themselves() -> None:
    with holdfast.open() as hf:
        session = hf.session()
        wrapped = holdfast.Text("<environment>", scaffold="environment")
        session.append(holdfast.Message("user", (wrapped, holdfast.Text("Fix it"))))
    assert values("sessions")[0]["opening"] == "Fix it"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete(shell: str) -> None:
    assert "_HOLDFAST_COMPLETE" in run("completion", shell).stdout
    (id,) = begin(title="one")
    begun = id[:4].lower()
    place = begun if shell == "fish" else "2"
    words = {"COMP_WORDS": f"holdfast show {begun}", "COMP_CWORD": place}
    told = run(_HOLDFAST_COMPLETE=f"{shell}_complete", **words)
    assert id in told.stdout


def test_a_name_is_no_directory_of_the_project_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    begin(directory=str(tmp_path))
    (wanted,) = begin(directory="/srv/shop")
    monkeypatch.chdir(tmp_path)
    assert [one["id"] for one in values("sessions", "--project", "shop")] == [wanted]
    for command in ("sessions", "cost"):
        refused = run(command, "--project", "shpo")
        assert refused.exit_code == 1
        assert "did you mean shop?" in refused.stderr
        assert run(command, "--project", ".").exit_code == 0


def test_an_empty_file_is_no_store_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.touch(0o644)
    assert "there is no store at" in run("sessions", "--store", str(file)).stderr
    assert (file.stat().st_size, file.stat().st_mode & 0o777) == (0, 0o644)


def test_what_to_do_next_is_told_for_the_store_that_was_named(tmp_path: Path) -> None:
    store = str(tmp_path / "a b.db")
    with holdfast.open(store) as hf:
        hf.session().user("A walrus.")
    told = terminal("search", "walrus", "--store", store, columns=200)
    assert f"--around 3 --store '{store}'" in told
