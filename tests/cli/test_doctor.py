"""The doctor finds what is wrong, mends it after a backup, and salvages what cannot be opened."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from rich.cells import cell_len

import holdfast
from tests.cli.running import program, run, values, with_a_person


@pytest.fixture
def store(own_store: Path) -> Path:
    """A store with a few sessions, all of it in its file."""
    with holdfast.open() as hf:
        for number in range(3):
            session = hf.session(title=f"session {number}")
            session.append_all([holdfast.user(f"question {n} " + "word " * 200) for n in range(20)])
    change(own_store, "PRAGMA wal_checkpoint(TRUNCATE)")
    return own_store


def change(store: Path, sql: str) -> None:
    database = apsw.Connection(str(store))
    database.execute(sql)
    database.close()


def spoil_a_part(store: Path) -> None:
    change(store, "UPDATE parts SET data = x'00ff' WHERE place = (SELECT max(place) FROM parts)")


def spoil_a_session(store: Path) -> None:
    change(store, "UPDATE sessions SET data = x'00ff' WHERE n = 2")


def spoil_a_head(store: Path) -> None:
    change(store, "UPDATE sessions SET head = 99 WHERE n = 2")


def spoil_the_header(store: Path) -> None:
    store.write_bytes(os.urandom(4096) + store.read_bytes()[4096:])


def test_all_is_well(store: Path) -> None:
    done = run("doctor")
    assert done.exit_code == 0
    assert "All is well" in done.stdout
    assert values("doctor") == [{"well": True, "store": str(store)}]


@pytest.mark.parametrize("spoil", [spoil_a_part, spoil_a_session, spoil_a_head])
@pytest.mark.parametrize("columns", ["80", "140"])
def test_a_finding_is_told_and_mended(
    spoil: Callable[[Path], None], columns: str, store: Path
) -> None:
    spoil(store)
    before = store.read_bytes()
    for words in (("doctor",), ("doctor", "--repair", "--dry-run")):
        done = run(*words, COLUMNS=columns)
        assert done.exit_code == 1
        assert "1 finding, 1 can be mended." in done.stdout
        assert max(map(cell_len, done.stdout.splitlines())) <= int(columns)
    assert store.read_bytes() == before
    mended = run("doctor", "--repair", "--yes")
    assert mended.exit_code == 0
    assert "Mended 1 finding" in mended.stdout
    assert "All is well" in mended.stdout
    backup = mended.stdout.split("Backup: ")[1].splitlines()[0]
    assert run("doctor", "--store", backup).exit_code == 1  # it is as it was
    assert len(values("sessions")) == 3


def test_json_says_what_was_found_and_what_was_mended(store: Path) -> None:
    spoil_a_head(store)
    done = program("doctor", "--json")
    assert done.returncode == 1
    assert '"area": "log"' in done.stdout
    mended, well = values("doctor", "--repair", "--yes")
    assert well["well"] is True
    assert set(mended) == {"backup", "mended"}
    assert set(mended["mended"][0]) == {"area", "what", "where", "mend"}


def test_a_file_that_cannot_be_opened_is_salvaged(store: Path) -> None:
    spoil_the_header(store)
    told = run("doctor")
    assert told.exit_code == 1
    assert "damaged" in told.stderr
    assert "`holdfast doctor --repair` puts what can be read" in told.stderr
    done = run("doctor", "--repair", "--yes")
    assert done.exit_code == 0
    assert "Salvaged 3 sessions with 60 entries." in done.stdout
    assert "Lost: the file's header was overwritten" in done.stdout
    kept = Path(done.stdout.split("is kept: ")[1].splitlines()[0])
    assert kept.exists()
    assert "question 19" in run("show", "last").stdout


def test_salvage_is_told_as_json(store: Path) -> None:
    spoil_the_header(store)
    told, well = values("doctor", "--repair", "--yes")
    assert well["well"] is True
    assert set(told) == {"damaged", "kept", "lost"}
    assert told["kept"]["entries"] == 60


def test_something_else_than_a_store_is_left_alone(store: Path) -> None:
    store.write_text("these are my notes\n" * 500)
    looked = run("doctor")
    assert looked.exit_code == 1
    assert "is not a Holdfast store" in looked.stderr
    done = run("doctor", "--repair", "--yes")
    assert done.exit_code == 1
    assert "is not a Holdfast store" in done.stderr
    assert "backup" not in done.stderr
    assert not store.with_name("store.db.backups").exists()
    assert store.read_text() == "these are my notes\n" * 500


@pytest.mark.parametrize("spoil", [spoil_a_head, spoil_the_header])
def test_nothing_is_changed_without_a_yes(spoil: Callable[[Path], None], store: Path) -> None:
    spoil(store)
    before = store.read_bytes()
    refused = run("doctor", "--repair")
    assert refused.exit_code == 1
    assert "say --yes" in refused.stderr
    declined = with_a_person("doctor", "--repair", answer=b"n\n")
    assert declined.returncode == 1
    assert "Nothing was changed." in declined.stderr
    assert store.read_bytes() == before
    assert with_a_person("doctor", "--repair", answer=b"y\n").returncode == 0


def test_a_store_that_is_not_there_is_not_made(own_store: Path) -> None:
    done = run("doctor")
    assert done.exit_code == 1
    assert "there is no store" in done.stderr
    assert not own_store.exists()


def test_what_may_take_long_is_seen_to_be_at_work(store: Path) -> None:
    spoil_a_head(store)
    mended = run("doctor", "--repair", "--yes", FORCE_COLOR="1")
    assert "Copying" in mended.stderr
    assert "Mending" in mended.stderr
    erased = run("erase", values("sessions")[0]["id"], "--yes", FORCE_COLOR="1")
    assert "Erasing" in erased.stderr
    spoil_the_header(store)
    salvaged = run("doctor", "--repair", "--yes", FORCE_COLOR="1")
    assert "Salvaging" in salvaged.stderr
    assert "Examining" not in run("doctor").stderr
