"""What belongs to whom: prompts, subtasks, other sessions, keys, forks; and the other doors."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast, drive
from holdfast.errors import FilesChanged, InvalidRequest
from holdfast.failpoints import arm, disarm
from holdfast.files import data_home
from holdfast.workspace.contents import LARGEST
from tests.cli.running import run, terminal, values
from tests.workspace.trees import tree


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "a.txt").write_text("one\n")
    return place


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "log.db") as opened:
        yield opened


@pytest.mark.seed("000", 53, 116, 193)
def test_each_prompt_has_its_files_and_lines(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    w = s.workspace()
    s.user("first")
    with w.recording("a.txt"):
        (work / "a.txt").write_text("one\ntwo\n")
    s.user("nothing")
    s.user("third")
    with w.recording():
        (work / "b").mkdir()
        (work / "b" / "c").write_text("c\n")
        (work / "a.txt").unlink()
    told = [(one.text, one.files, one.added, one.removed) for one in s.prompts()]
    assert told == [("first", 1, 1, 0), ("nothing", 0, 0, 0), ("third", 2, 1, 2)]
    assert [one.path for one in s.diff(3, 3)] == ["a.txt", "b/c"]
    assert [one.path for one in s.diff(1, 1)] == ["a.txt"]
    assert s.diff(2, 2) == ()


def test_a_file_that_was_moved_is_told_as_moved(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("move it")
    with s.workspace().recording():
        (work / "a.txt").rename(work / "z.txt")
    (moved,) = s.diff()
    assert (moved.path, moved.renamed) == ("z.txt", "a.txt")


@pytest.mark.seed("000", 118, 162)
def test_what_somebody_changes_between_commands_is_theirs(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    w = s.workspace()
    w.prepare()
    s.user("go")
    (work / "a.txt").write_text("by hand\n")
    with w.recording(cause="command") as done:
        (work / "made").write_text("x")
    assert [one.path for one in done.changes] == ["made"]
    with w.recording(cause="command") as done:
        (work / "a.txt").write_text("by the agent\n")
    s.rewind(0, restore="both")
    assert (work / "a.txt").read_text() == "by hand\n"


def test_edits_of_another_session_during_a_command_are_theirs(hf: Holdfast, work: Path) -> None:
    s, other = hf.session(directory=work), hf.session(directory=work)
    s.user("go")
    other.user("go as well")
    with s.workspace().recording(cause="command") as done:
        (work / "mine").write_text("mine")
        with other.workspace().recording("theirs", cause="tool"):
            (work / "theirs").write_text("theirs")
    assert "mine" in [one.path for one in done.changes]
    s.rewind(0, restore="both")
    assert (work / "theirs").read_text() == "theirs"
    assert not (work / "mine").exists()
    other.rewind(0, restore="both")
    assert not (work / "theirs").exists()


def test_a_key_of_ours_is_never_kept(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-ant-0123456789abcdef"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    (work / ".env").write_text(f"KEY={key}\n")
    with holdfast.open(tmp_path / "keys.db") as hf:
        s = hf.session(directory=work)
        covered = s.workspace().prepare()
        assert [one.path for one in covered.uncovered] == [".env"]
        s.user("go")
        with s.workspace().recording():
            (work / ".env").write_text(f"KEY={key}\nMORE=1\n")
        with s.workspace().recording(".env"):
            (work / ".env").write_text(f"KEY={key}\nMORE=2\n")
        plan = s.preview_rewind(0)
        assert plan.steps == ()
        assert "key" in plan.uncovered[0].why
        s.rewind(0, restore="both")
        assert (work / ".env").read_text().endswith("MORE=2\n")
    for file in tmp_path.glob("keys.db*"):
        assert key.encode() not in file.read_bytes()


def test_what_is_too_large_stays_and_is_told(hf: Holdfast, work: Path) -> None:
    (work / "large").write_bytes(b"x" * (LARGEST + 1))
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording():
        (work / "large").write_bytes(b"y" * (LARGEST + 1))
        (work / "a.txt").write_text("two\n")
    plan = s.preview_rewind(0)
    assert [step.path for step in plan.steps] == ["a.txt"]
    assert [one.path for one in plan.uncovered] == ["large"]


@pytest.mark.seed("000", 119)
def test_a_repository_is_known_by_its_objects_and_left_alone(hf: Holdfast, work: Path) -> None:
    def git(*words: str) -> str:
        told = ["git", "-c", "user.name=n", "-c", "user.email=e@e", *words]
        return subprocess.run(told, cwd=work, check=True, capture_output=True, text=True).stdout

    (work / ".gitignore").write_text("*.log\n")
    git("init", "-q", ".")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("gc", "-q")
    (work / "staged").write_text("staged\n")
    git("add", "staged")
    before, index = tree(work), (work / ".git" / "index").read_bytes()
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording() as done:
        (work / "a.txt").write_text("two\n")
        (work / "noise.log").write_text("noise\n")
    assert [one.path for one in done.changes] == ["a.txt"]
    (work / "noise.log").unlink()
    s.rewind(0, restore="both")
    assert tree(work) == before
    assert (work / ".git" / "index").read_bytes() == index


def test_a_fork_takes_back_what_was_done_before_it(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("first")
    with s.workspace().recording("a.txt"):
        (work / "a.txt").write_text("two\n")
    s.user("second")
    fork = s.fork()
    fork.rewind(0, restore="both")
    assert (work / "a.txt").read_text() == "one\n"
    (work / "a.txt").write_text("by hand\n")
    with pytest.raises(FilesChanged):
        fork.undo()


def test_the_async_door_has_the_same(tmp_path: Path, work: Path) -> None:
    async def talk() -> list[str]:
        async with holdfast.open_async(tmp_path / "async.db") as hf:
            s = await hf.session(directory=str(work))
            await s.user("go")
            async with s.workspace().recording() as done:
                (work / "a.txt").write_text("two\n")
            await s.rewind(0, restore="both")
            return [one.path for one in done.changes]

    assert asyncio.run(talk()) == ["a.txt"]
    assert (work / "a.txt").read_text() == "one\n"


@pytest.mark.seed("000", 122, 123)
def test_files_and_conversation_go_back_apart(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("first")
    with s.workspace().recording("a.txt"):
        (work / "a.txt").write_text("two\n")
    s.user("second")
    s.rewind(1, restore="code")
    assert (work / "a.txt").read_text() == "two\n"
    s.rewind(0, restore="code")
    assert (work / "a.txt").read_text() == "one\n"
    assert len(list(s.visible())) == 2
    s.undo()
    s.rewind(0)
    assert (work / "a.txt").read_text() == "two\n"
    assert list(s.visible()) == []


def test_a_rewind_of_nothing_and_of_the_wrong_thing(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with pytest.raises(InvalidRequest, match="conversation, code, both"):
        s.rewind(0, restore="everything")
    marker = s.rewind(0, restore="code")
    assert s.undo(marker.seq).body is not None


@pytest.mark.seed("000", 117, 192)
def test_content_is_let_go_when_it_is_old_and_said_to_be(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording("a.txt"):
        (work / "a.txt").write_text("two\n")
    assert hf.checkpoints().changes == 1
    assert hf.prune_checkpoints(days=1).changes == 0
    old = drive(hf.engine.store.files.forget(2**60, 0))
    assert old.changes == 1
    (note,) = s.preview_rewind(0).uncovered
    assert "let go" in note.why


@pytest.mark.seed("000", 54, 121)
def test_the_command_line_shows_and_takes_back(tmp_path: Path, hf: Holdfast, work: Path) -> None:
    store = ("--store", str(tmp_path / "log.db"))
    s = hf.session(directory=work)
    s.user("first\nwith a second line")
    with s.workspace().recording("a.txt"):
        (work / "a.txt").write_text("two\n")
    (listed,) = values("rewind", *store)
    assert (listed["number"], listed["files"], listed["to"]) == (1, 1, 0)
    assert "+two" in run("diff", *store).stdout
    assert values("diff", *store)[0]["added"] == 1
    shown = run("rewind", *store, "last", "1", "--preview").stdout
    assert "1 path would be put back" in shown
    assert (work / "a.txt").read_text() == "two\n"
    assert run("rewind", *store, "last", "1").exit_code != 0  # nobody can be asked
    (work / "a.txt").write_text("by hand\n")
    stopped = run("rewind", *store, "last", "1", "--yes")
    assert stopped.exit_code != 0
    assert "changed by somebody else" in stopped.stderr + str(stopped.exception)
    assert run("rewind", *store, "last", "1", "--yes", "--overwrite", "*").exit_code == 0
    assert (work / "a.txt").read_text() == "one\n"
    assert run("undo", *store).exit_code == 0
    assert (work / "a.txt").read_text() == "by hand\n"
    assert values("checkpoints", *store)[0]["changes"] >= 1
    assert run("rewind", *store, "last", "7").exit_code != 0


def test_hooks_of_other_agents_record_what_a_tool_did(tmp_path: Path, work: Path) -> None:
    store = ("--store", str(tmp_path / "hooks.db"))
    with holdfast.open(tmp_path / "hooks.db") as hf:
        s = hf.session(directory=work)
        s.user("go")
    (work / "large").write_bytes(b"x" * 100_000)

    def checkpoint() -> list[str]:
        return values("checkpoint", *store, "--session", s.id)[0]["paths"]

    assert checkpoint() == []
    (work / "a.txt").write_text("two\n")
    (work / "large").unlink()
    (work / "new").mkdir()
    (work / "new" / "file").write_text("new\n")
    assert checkpoint() == ["a.txt", "large", "new", "new/file"]
    assert checkpoint() == []
    (work / "a.txt").write_text("three\n")
    assert checkpoint() == ["a.txt"]
    with holdfast.open(tmp_path / "hooks.db") as hf:
        s = hf.session(s.id)
        marker = s.rewind(0, restore="code")
        assert (work / "a.txt").read_text() == "one\n"
        assert (work / "large").stat().st_size == 100_000
        assert not (work / "new").exists()
        s.undo(marker.seq)
        assert (work / "a.txt").read_text() == "three\n"
        kept = list((data_home() / "workspace").glob("*/known"))
        hf.erase(s.id)
        assert kept
        assert not any(one.exists() for one in kept)


@pytest.mark.seed("000", 53)
def test_lines_of_commands_are_in_the_costs_and_the_list(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording(cause="command"):
        (work / "a.txt").write_text("two\nthree\n")
    shot = s.snapshot()
    assert (shot.lines_added, shot.lines_removed) == (2, 1)
    (listed,) = values("sessions", "--store", str(work.parent / "log.db"))
    assert (listed["lines_added"], listed["lines_removed"]) == (2, 1)
    store = str(work.parent / "log.db")
    assert "+2 -1" in terminal("sessions", "--store", store, columns=120)
    assert "+2 -1" not in terminal("sessions", "--store", store, columns=80)
    fork = s.fork()
    fork.user("more")
    assert fork.snapshot().lines_added == 0


def test_edits_by_another_process_during_a_command_are_theirs(
    tmp_path: Path, hf: Holdfast, work: Path
) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with holdfast.open(tmp_path / "log.db") as elsewhere:
        other = elsewhere.session(directory=work)
        other.user("go as well")
        with s.workspace().recording(cause="command") as done:
            (work / "mine").write_text("mine")
            with other.workspace().recording("theirs", cause="tool"):
                (work / "theirs").write_text("theirs")
    assert [one.path for one in done.changes] == ["mine", "theirs"]  # nobody knew yet
    assert [one.path for one in s.diff()] == ["mine"]
    s.rewind(0, restore="both")
    assert (work / "theirs").read_text() == "theirs"
    assert not (work / "mine").exists()


def test_what_somebody_changed_in_between_stops_a_rewind(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording("a.txt"):
        (work / "a.txt").write_text("two\n")
    (work / "a.txt").write_text("two\nby hand\n")
    with s.workspace().recording("a.txt"):
        (work / "a.txt").write_text("two\nby hand\nthree\n")
    with pytest.raises(FilesChanged, match="in between"):
        s.rewind(0, restore="both")
    s.rewind(0, restore="both", resolve={"a.txt": "restore"})
    assert (work / "a.txt").read_text() == "one\n"
    s.undo()
    assert (work / "a.txt").read_text() == "two\nby hand\nthree\n"


def test_what_changes_while_files_are_put_back_is_not_lost(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    (work / "z.txt").write_text("one\n")
    s.user("go")
    with s.workspace().recording():
        (work / "a.txt").write_text("two\n")
        (work / "z.txt").write_text("two\n")

    def by_hand() -> None:
        (work / "z.txt").write_text("by hand\n")

    arm("rewind.staged", by_hand)
    try:
        with pytest.raises(InvalidRequest, match="by somebody else just now"):
            s.rewind(0, restore="both")
    finally:
        disarm()
    assert tree(work) == {
        "a.txt": ("file", 0o644, b"two\n"),
        "z.txt": ("file", 0o644, b"by hand\n"),
    }


def test_paths_to_record_are_beneath_the_directory(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    w = s.workspace()
    for named in (str(work / "b"), work / "c", "./d", Path("e")):
        with w.recording(named):
            (work / Path(named).name).write_text("made\n")
    assert [one.path for one in s.diff()] == ["b", "c", "d", "e"]
    for named in ("../x", "/etc/hosts", "b/../../x", ""):
        with pytest.raises(InvalidRequest, match="beneath"), w.recording(named):
            pass
    s.rewind(0, restore="both")
    assert [one.name for one in work.iterdir()] == ["a.txt"]


def test_files_of_two_directories_are_told_apart(hf: Holdfast, tmp_path: Path, work: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording():
        (work / "a.txt").write_text("two\n")
    with s.workspace(other).recording():
        (other / "a.txt").write_text("elsewhere\n")
    there = f"{other}/a.txt"
    assert sorted(one.path for one in s.diff()) == sorted(["a.txt", there])
    assert [one.files for one in s.prompts()] == [2]
    plan = s.preview_rewind(0)
    assert [one.path for one in plan.steps] == ["a.txt"]
    assert [one.path for one in plan.uncovered] == [there]
    s.rewind(0, restore="both")
    assert (work / "a.txt").read_text() == "one\n"
    assert (other / "a.txt").read_text() == "elsewhere\n"


def test_a_conversation_goes_back_where_the_directory_is_gone(tmp_path: Path, work: Path) -> None:
    with holdfast.open(tmp_path / "gone.db") as hf:
        s = hf.session(directory=work)
        s.user("go")
        with s.workspace().recording():
            (work / "a.txt").write_text("two\n")
        shutil.rmtree(work)
        with pytest.raises(InvalidRequest, match="no directory"):
            s.preview_rewind(0)
        with pytest.raises(InvalidRequest, match="no directory"):
            s.rewind(0, restore="both", resolve={"*": "restore"})
        assert len(s.prompts()) == 1
    rewind = ("rewind", "--store", str(tmp_path / "gone.db"), s.id, "1", "--yes")
    assert "there is no directory" in run(*rewind).stderr
    done = run(*rewind, "--restore", "conversation")
    assert done.exit_code == 0, done.stderr
    with holdfast.open(tmp_path / "gone.db") as hf:
        assert hf.session(s.id).prompts() == ()


def test_a_checkpoint_does_not_record_a_rewind_as_work(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    w = s.workspace()
    assert w.checkpoint() == ()
    (work / "a.txt").write_text("two\n")
    assert len(w.checkpoint()) == 1
    s.rewind(0, restore="both")
    assert w.checkpoint() == ()
    s.user("again")
    (work / "a.txt").write_text("three\n")
    assert len(w.checkpoint()) == 1
    assert s.preview_rewind(0).conflicts == ()


def test_a_rewind_that_was_undone_makes_nobody_elses_words_the_agents(
    hf: Holdfast, work: Path
) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording():
        (work / "a.txt").write_text("two\n")
    (work / "a.txt").write_text("by hand\n")
    marker = s.rewind(0, restore="both", resolve={"*": "restore"})
    s.undo(marker.seq)
    assert (work / "a.txt").read_text() == "by hand\n"
    (told,) = s.diff()
    assert "+two" in told.diff
    assert "by hand" not in told.diff


def test_prompts_in_the_wrong_order_are_said_to_be(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    first, second = s.user("one"), s.user("two")
    with pytest.raises(InvalidRequest, match="comes after"):
        s.diff(second.seq, first.seq)


def test_a_name_of_several_lines_is_shown_in_one(hf: Holdfast, work: Path) -> None:
    s = hf.session(directory=work)
    s.user("go")
    with s.workspace().recording():
        (work / "x\n  remove     a.txt").write_text("")
    store = ("--store", str(work.parent / "log.db"))
    for words in (("diff", *store), ("rewind", *store, "last", "1", "--preview")):
        done = run(*words)
        assert done.exit_code == 0, done.stderr
        assert not [line for line in done.stdout.splitlines() if line.startswith("  remove     a")]
