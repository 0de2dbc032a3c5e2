"""Forks of Codex: a file that repeats its parent's beginning with the times of the copying."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.client import Holdfast, Session
from tests.importers.looking import bring, calls_of, log, words
from tests.importers.rollouts import THREAD, Rollout, said, sealed

FORK = f"{THREAD[:-1]}2"
FURTHER = f"{THREAD[:-1]}3"
LATER = "2026-01-02T05:00:00.500Z"


def begun(thread: str = THREAD, **meta: object) -> Rollout:
    told = Rollout(thread, **meta)
    told.turn("Mend the roof.", "It is mended.")
    told.uses(100, 0, 10)
    told.calls()
    told.turn("And the wall?", "The wall too.")
    told.compacts(said("user", "Mend the roof."), said("user", "And the wall?"), sealed())
    return told


def copied(told: Rollout, *, at: str = LATER) -> Rollout:
    """The same, written in one go."""
    told.records[1:] = [record | {"timestamp": at} for record in told.records[1:]]
    return told


def fork_of(hf: Holdfast, session: str) -> Session:
    (fork,) = hf.forks(hf.session(session).info)
    return hf.session(fork.id)


def test_a_fork_shares_what_its_file_repeats(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, begun().write(tmp_path / "p"))
    (parent,) = report.sessions
    told = copied(begun(FORK, forked_from_id=THREAD))
    told.turn("And the door?", "The door is new.")
    told.uses(300, 0, 30)
    bring(hf, told.write(tmp_path / "f"))
    fork = fork_of(hf, parent)
    assert (fork.info.parent, fork.info.fork) == (parent, hf.session(parent).info.head)
    assert words(fork)[-2:] == ["And the door?", "The door is new."]
    assert len(calls_of(hf, fork)) == 1


def test_a_fork_of_a_fork_shares_both(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, begun().write(tmp_path / "p"))
    told = copied(begun(FORK, forked_from_id=THREAD))
    told.turn("And the door?", "The door is new.")
    bring(hf, told.write(tmp_path / "f"))
    again = begun(FURTHER, forked_from_id=FORK)
    again.turn("And the door?", "The door is new.")
    copied(again, at="2026-01-02T07:00:00.500Z").turn("The window?", "Clean.")
    bring(hf, again.write(tmp_path / "g"))
    fork = fork_of(hf, *report.sessions)
    assert fork_of(hf, fork.id).info.fork == fork.info.head


def test_a_fork_is_known_again_and_grows(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, begun().write(tmp_path / "p"))
    told = copied(begun(FORK, forked_from_id=THREAD))
    told.turn("And the door?", "The door is new.")
    bring(hf, told.write(tmp_path / "f"))
    before = log(fork_of(hf, *report.sessions))
    (again,) = bring(hf, told.write(tmp_path / "f", name="rollout-again.jsonl"))
    assert again.entries == 0
    assert log(fork_of(hf, *report.sessions)) == before
    told.turn("The window?", "Clean.")
    (grown,) = bring(hf, told.write(tmp_path / "f"))
    assert grown.messages == 2
    assert log(fork_of(hf, *report.sessions))[: len(before)] == before


def test_a_fork_in_which_somebody_went_on_here_is_known_again(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, begun().write(tmp_path / "p"))
    told = copied(begun(FORK, forked_from_id=THREAD))
    told.turn("And the door?", "The door is new.")
    bring(hf, told.write(tmp_path / "f"))
    fork = fork_of(hf, *report.sessions)
    fork.user("I go on here.")
    told.turn("The window?", "Clean.")
    (grown,) = bring(hf, told.write(tmp_path / "f"))
    assert grown.messages == 2
    assert words(fork_of(hf, fork.id))[-2:] == ["The window?", "Clean."]


def test_a_fork_that_adds_nothing_is_one_all_the_same(hf: Holdfast, tmp_path: Path) -> None:
    (report,) = bring(hf, begun().write(tmp_path / "p"))
    bring(hf, copied(begun(FORK, forked_from_id=THREAD)).write(tmp_path / "f"))
    fork = fork_of(hf, *report.sessions)
    assert words(fork) == words(hf.session(*report.sessions))


@pytest.mark.parametrize("source", [FORK, f"{THREAD[:-1]}9"])
def test_a_fork_of_what_is_not_here_is_a_session_of_its_own(
    source: str, hf: Holdfast, tmp_path: Path
) -> None:
    told = copied(begun(FORK, forked_from_id=source))
    told.turn("And the door?", "The door is new.")
    (report,) = bring(hf, told.write(tmp_path / "f"))
    info = hf.session(*report.sessions).info
    assert (info.parent, info.fork) == ("", 0)


def test_what_another_session_begins_with_alike_is_no_copy(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, begun().write(tmp_path / "p"))
    (report,) = bring(hf, copied(begun(FORK)).write(tmp_path / "f"))
    info = hf.session(*report.sessions).info
    assert (info.parent, info.fork) == ("", 0)


def test_a_parent_and_its_fork_may_come_together(hf: Holdfast, tmp_path: Path) -> None:
    begun().write(tmp_path / "p")
    told = copied(begun(FORK, forked_from_id=THREAD))
    told.turn("And the door?", "The door is new.")
    told.write(tmp_path / "p")
    bring(hf, tmp_path / "p")
    (parent,) = (one for one in hf.every_session() if not one.parent)
    assert fork_of(hf, parent.id).info.fork == parent.head
