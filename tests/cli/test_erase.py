"""Erasing says what will go, asks, and says what went."""

from pathlib import Path

import pytest

import holdfast
from tests.cli.running import run, values, with_a_person


@pytest.fixture
def pair() -> tuple[str, str]:
    """A session, and a fork that shares its first entry."""
    with holdfast.open() as hf:
        session = hf.session(title="secret plans")
        session.user("one")
        session.user("two")
        return session.id, session.fork("1").id


def test_it_says_what_goes_and_who_keeps_a_copy(pair: tuple[str, str]) -> None:
    id, fork = pair
    done = run("erase", id, "--yes")
    assert done.exit_code == 0
    assert "secret plans" in done.stdout
    assert "2 entries, " in done.stdout
    assert f"Fork {fork} keeps its copy of the first 1 entry" in done.stdout
    assert f"Erased {id}: 2 entries, 2 parts, 0 blobs." in done.stdout
    assert run("show", id).exit_code == 1
    assert "one" in run("show", fork).stdout


def test_without_a_person_it_wants_a_yes(pair: tuple[str, str]) -> None:
    done = run("erase", pair[0])
    assert done.exit_code == 1
    assert "say --yes" in done.stderr
    assert run("show", pair[0]).exit_code == 0


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (b"n\n", 1, "Nothing was erased."),
        (b"\n", 1, "Nothing was erased."),
        (b"\x04", 1, "nothing was done"),
        (b"y\n", 0, ""),
    ],
)
def test_a_person_is_asked(pair: tuple[str, str], answer: bytes, code: int, said: str) -> None:
    done = with_a_person("erase", pair[0], answer=answer)
    assert done.returncode == code
    assert "Erase it for good?" in done.stderr
    assert said in done.stderr
    assert (run("show", pair[0]).exit_code == 0) == bool(code)


def test_a_fork_says_what_stays_with_its_parent(pair: tuple[str, str]) -> None:
    done = run("erase", pair[1], "--yes")
    assert "0 entries, 0 bytes will go" in done.stdout
    assert f"The first 1 stay in {pair[0]}" in done.stdout


def test_json_says_what_was_erased(pair: tuple[str, str]) -> None:
    (gone,) = values("erase", pair[0], "--yes")
    assert set(gone) == {
        "session", "entries", "parts", "blobs", "copied", "backups", "rewritten", "holding",
        "held", "notes",
    }  # fmt: skip
    assert (gone["session"], gone["entries"], gone["copied"]) == (pair[0], 2, [pair[1]])


def test_subtasks_go_with_their_session() -> None:
    with holdfast.open() as hf:
        session = hf.session(title="the whole")
        session.user("one")
        part = session.subtask("a part")
        part.user("read everything")
        whole, name = session.id, part.id
    done = run("erase", whole, "--yes")
    assert f"{name} “subtask: a part” goes with it." in done.stdout
    assert run("show", name).exit_code == 1
    with holdfast.open() as hf:
        assert hf.sessions() == ()
        assert hf.examine() == ()


def test_backups_are_rewritten_and_named_or_deleted_where_that_is_asked() -> None:
    with holdfast.open() as hf:
        one, other = hf.session(title="one"), hf.session(title="other")
        one.user("the first")
        other.user("the second")
        ids, backup = (one.id, other.id), Path(hf.backup())
    done = run("erase", ids[0], "--yes")
    told = " ".join(done.stdout.split())
    assert "was rewritten without it" in told
    assert "still" not in told
    with holdfast.open(backup) as hf:
        assert [session.id for session in hf.sessions()] == [ids[1]]
        hf.session(ids[1]).user("opened, so that it has no journal left")
    (gone,) = values("erase", ids[1], "--yes", "--backups", "delete")
    assert (gone["backups"], gone["rewritten"], gone["holding"]) == ([str(backup)], [], [])
    assert not backup.exists()


def test_the_library_says_which_backups_still_hold_it_until_the_job_is_done(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "s.db") as hf:
        id = hf.session().id
        backup = hf.backup()
        gone = hf.erase(id, background=False)
        assert (gone.backups, gone.holding) == ((), (backup,))
        assert [finding.where for finding in hf.examine()] == [backup]
        (done,) = hf.finish_erasing()
        assert (done.session, done.rewritten, done.holding) == (id, (backup,), ())
        assert hf.examine() == ()
        again = hf.session().id
        newer = hf.backup()
        hf.erase(again)  # by a thread beside
        assert hf.wait_for_background(30)
        assert [one.session for one in hf.finish_erasing()] == [again]
        assert hf.finish_erasing() == ()
        assert Path(newer).exists()
        with holdfast.open(newer) as kept:
            assert kept.sessions() == ()


def test_doctor_goes_on_with_an_erasure_that_was_cut_short(own_store: Path) -> None:
    with holdfast.open() as hf:
        id = hf.session().id
        hf.backup()
        hf.erase(id, background=False)
    assert "a backup holds" in " ".join(run("doctor").stdout.split())
    assert run("doctor", "--repair", "--yes").exit_code == 0
    assert "All is well" in run("doctor").stdout
