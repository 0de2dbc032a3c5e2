"""Trust is of one content of one file of one project, and is kept by the user."""

import os
import threading
from pathlib import Path

import pytest

from holdfast.core.knowledge.trust import Decision
from holdfast.engine.knowledge.trust import decide, decisions, trust_file, trusted
from holdfast.errors import Unsafe


def approved(project: Path, path: str, digest: str) -> Decision:
    return Decision(project=str(project), path=path, digest=digest, verdict="trusted")


def test_an_approval_is_of_one_content_of_one_file_of_one_project(tmp_path: Path) -> None:
    decide([approved(tmp_path, "AGENTS.md", "aa")])
    assert decisions()[0].at > 1_700_000_000_000, "when it was decided, in milliseconds"
    here = trusted(tmp_path)
    assert here.of("AGENTS.md", "aa") == "trusted"
    assert here.of("AGENTS.md", "bb") == "unknown"
    assert here.of("CLAUDE.md", "aa") == "unknown"
    assert trusted(tmp_path / "other").of("AGENTS.md", "aa") == "unknown"


def test_the_newest_decision_holds(tmp_path: Path) -> None:
    one = Decision(project=str(tmp_path), path="a", digest="x", verdict="declined")
    decide([approved(tmp_path, "a", "x")])
    decide([one])
    assert trusted(tmp_path).of("a", "x") == "declined"
    assert not trusted(tmp_path).known("a")
    decide([approved(tmp_path, "a", "x"), approved(tmp_path, "a", "y")])
    assert trusted(tmp_path).known("a")
    decide([Decision(project=str(tmp_path), path="a", verdict="withdrawn")])
    assert trusted(tmp_path).verdicts == {}


def test_a_project_is_the_same_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    decide([approved(tmp_path / "link", "a", "x")])
    assert trusted(tmp_path / "real").of("a", "x") == "trusted"


def test_a_line_that_cannot_be_read_approves_nothing_and_spoils_no_other(tmp_path: Path) -> None:
    decide([approved(tmp_path, "a", "x")])
    with trust_file().open("ab") as file:
        file.write(b'{"project": "cut sho')
    decide([approved(tmp_path, "b", "y")])
    assert [one.path for one in decisions()] == ["a", "b"]


def test_decisions_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    def approve(number: int) -> None:
        decide([approved(tmp_path, f"file{number}", "x")])

    threads = [threading.Thread(target=approve, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert {one.path for one in decisions()} == {f"file{n}" for n in range(8)}


def test_the_file_is_its_owners_alone_and_no_link(tmp_path: Path) -> None:
    decide([approved(tmp_path, "a", "x")])
    assert os.stat(trust_file()).st_mode & 0o777 == 0o600
    trust_file().rename(tmp_path / "elsewhere")
    trust_file().symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unsafe, match="symbolic link"):
        trusted(tmp_path)
