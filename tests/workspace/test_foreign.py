"""What other programs recorded of files: imported, shown, said to be out of reach, written back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.workspace.snapshots import LARGEST, snapshots, told_once
from holdfast.engine.client import Holdfast, Session
from holdfast.model.log import Entry, Records
from holdfast.model.message import Record
from tests.cli.running import run, values
from tests.exporters.carried import exported, told
from tests.importers.looking import bring, log, only
from tests.importers.opencode_writing import Talk, database
from tests.importers.rollouts import Rollout

FIRST, SECOND = "a" * 40, "b" * 40


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "log.db") as opened:
        yield opened


def ghost(id: Any, **more: Any) -> dict[str, Any]:
    return {"ghost_commit": {"id": id, "parent": "c" * 40, "preexisting_untracked_files": ["x.log"],
                             "preexisting_untracked_dirs": ["out"], **more}}  # fmt: skip


def rollout() -> Rollout:
    t = Rollout()
    for asked, id in (("Mend the roof.", FIRST), ("And the door.", SECOND)):
        t.start()
        t.asks(asked)
        t.item("ghost_snapshot", **ghost(id))
        t.calls(command=["ls"])
        t.replies("Done.")
        t.event("task_complete", last_agent_message="Done.")
    return t


def talk() -> Talk:
    t = Talk()
    t.user("Mend the roof.")
    patch = {"type": "patch", "hash": "aa", "files": ["/home/me/project/roof.py"]}
    t.reply("Done.", patch)
    t.user("And the door.")
    t.reply("Done too.", {"type": "snapshot", "snapshot": "bb"})
    return t


def seen(session: Session) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(s.agent, s.kind, s.hash, s.files) for s in session.foreign_snapshots()]


def ghosts(data: bytes) -> list[dict[str, Any]]:
    payloads = [json.loads(line)["payload"] for line in data.splitlines()]
    return [one for one in payloads if one.get("type") == "ghost_snapshot"]


def test_a_ghost_snapshot_of_codex_belongs_to_its_prompt(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, rollout().write(tmp_path))
    session = only(hf)
    one, two = session.foreign_snapshots()
    assert (one.agent, one.kind, one.hash, one.parent) == ("codex", "snapshot", FIRST, "c" * 40)
    assert (one.untracked, one.untracked_directories) == (("x.log",), ("out",))
    prompts = session.prompts()
    assert [p.text for p in prompts] == ["Mend the roof.", "And the door."]
    assert [p.foreign for p in prompts] == [(one,), (two,)]


@pytest.mark.seed("000", 77, 78)
@pytest.mark.parametrize("form", ["export", "database", "tree"])
def test_snapshots_and_patches_of_opencode_are_the_same_thing(
    hf: Holdfast, tmp_path: Path, form: str
) -> None:
    t = talk()
    bring(hf, database(tmp_path, t) if form == "database" else getattr(t, form)(tmp_path))
    session = only(hf)
    roof = ("/home/me/project/roof.py",)
    assert seen(session) == [
        ("opencode", "snapshot", "aa", ()), ("opencode", "patch", "aa", roof),
        ("opencode", "snapshot", "bb", ()),
    ]  # fmt: skip
    assert [[s.kind for s in p.foreign] for p in session.prompts()] == [
        ["snapshot", "patch"], ["snapshot"],
    ]  # fmt: skip


def test_the_same_file_again_adds_nothing(hf: Holdfast, tmp_path: Path) -> None:
    file = rollout().write(tmp_path)
    bring(hf, file)
    before, found = log(only(hf)), seen(only(hf))
    bring(hf, file)
    assert (log(only(hf)), seen(only(hf))) == (before, found)


def test_they_weigh_nothing_and_hide_nothing(hf: Holdfast, tmp_path: Path) -> None:
    plain = rollout()
    plain.records = [r for r in plain.records if r["payload"].get("type") != "ghost_snapshot"]
    bring(hf, rollout().write(tmp_path / "with"))
    request = exported(only(hf), "openai-responses")
    with holdfast.open(tmp_path / "plain.db") as other:
        bring(other, plain.write(tmp_path / "without"))
        assert exported(only(other), "openai-responses") == request
    assert FIRST.encode() not in request


def test_what_a_compaction_covers_is_there_still_and_what_was_rolled_back_is_not(
    hf: Holdfast, tmp_path: Path
) -> None:
    t = rollout()
    t.event("thread_rolled_back", num_turns=1)
    file = t.write(tmp_path / "rolled")
    bring(hf, file)
    assert [s.hash for s in only(hf).foreign_snapshots()] == [FIRST]
    t.compacts(message="The roof was mended.")
    t.turn("What now?", "Nothing.")
    bring(hf, t.write(tmp_path / "rolled"))
    assert [s.hash for s in only(hf).foreign_snapshots()] == [FIRST]


def test_codex_gets_back_what_it_wrote(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, rollout().write(tmp_path))
    session = only(hf)
    data, fidelity = told(session, "codex")
    written = [{"type": "ghost_snapshot", **ghost(id)} for id in (FIRST, SECOND)]
    assert ghosts(data) == written
    assert "2 snapshots of files that Codex made, by name" in fidelity.carried
    before, copy = log(session), tmp_path / "copy"
    copy.mkdir()
    (copy / f"rollout-{'0' * 8}.jsonl").write_bytes(data)
    bring(hf, copy)
    assert log(only(hf)) == before
    other, fidelity = told(session, "claude-code")
    assert b"ghost_snapshot" not in other
    assert not any("that Codex made" in line for line in fidelity.carried)


def test_codex_is_given_none_of_another_program(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, talk().export(tmp_path))
    data, fidelity = told(only(hf), "codex")
    assert ghosts(data) == []
    assert not any("that Codex made" in line for line in fidelity.carried)


DAMAGED: list[dict[str, Any]] = [
    {}, {"ghost_commit": None}, {"ghost_commit": []}, {"ghost_commit": {"id": 7}},
    {"ghost_commit": {"id": ""}}, {"ghost_commit": {"id": "a" * 201}},
]  # fmt: skip


@pytest.mark.parametrize("payload", DAMAGED)
def test_a_damaged_one_is_kept_and_fails_nothing(
    hf: Holdfast, tmp_path: Path, payload: dict[str, Any]
) -> None:
    t = rollout()
    t.item("ghost_snapshot", **payload)
    (report,) = bring(hf, t.write(tmp_path))
    assert report.troubles == 0
    assert [s.hash for s in only(hf).foreign_snapshots()] == [FIRST, SECOND]


def test_fields_that_are_something_else_are_left_out(hf: Holdfast, tmp_path: Path) -> None:
    t = Rollout()
    t.turn("Mend the roof.", "Done.")
    t.item("ghost_snapshot", **ghost(FIRST, parent=3, preexisting_untracked_files=["a", 1, None],
                                     preexisting_untracked_dirs="out"))  # fmt: skip
    bring(hf, t.write(tmp_path))
    (one,) = only(hf).foreign_snapshots()
    assert (one.parent, one.untracked, one.untracked_directories) == ("", ("a",), ())


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000,
                                  b'{"snapshot":"aa","x":"' + b"y" * LARGEST + b'"}'])  # fmt: skip
def test_bytes_that_are_no_record_name_nothing(data: bytes) -> None:
    record = Record("opencode", "part/snapshot", data, whole=True)
    entry = Entry(id="e", session="s", seq=1, body=Records(records=(record,)), created=0)
    assert list(snapshots([entry])) == []


def test_a_state_that_is_named_again_is_told_once() -> None:
    def part(kind: str, data: bytes) -> Record:
        return Record("opencode", f"part/{kind}", data, whole=True)

    one, two = b'{"snapshot":"aa"}', b'{"snapshot":"bb"}'
    records = (part("step-start", one), part("step-finish", one), part("patch", b'{"hash":"cc"}'),
               *(part("step-start", each) for each in (one, two, one)))  # fmt: skip
    entry = Entry(id="e", session="s", seq=1, body=Records(records=records), created=0)
    found = [(one.kind, one.hash) for one in told_once(snapshots([entry]))]
    assert found == [("snapshot", "aa"), ("patch", "cc"), ("snapshot", "bb"), ("snapshot", "aa")]


def test_the_command_line_lists_them_and_says_what_cannot_be(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "log.db"))
    with holdfast.open(tmp_path / "log.db") as hf:
        bring(hf, talk().export(tmp_path))
    shown = " ".join(run("checkpoints", "last", *store).stdout.split())
    assert "opencode snapshot aa" in shown
    assert "opencode patch aa: /home/me/project/roof.py" in shown
    said = "Holdfast cannot restore those: what they held is only in git objects of opencode's own."
    assert f"opencode recorded files 3 times. {said}" in shown
    rewind = run("rewind", "last", *store).stdout
    assert "1 file (opencode)" in rewind
    assert "opencode snapshot" in rewind
    assert said in " ".join(rewind.split())
    (value,) = values("checkpoints", "last", *store)
    assert [one["kind"] for one in value["foreign"]] == ["snapshot", "patch", "snapshot"]
    assert "cannot restore" not in run("checkpoints", *store).stdout


def test_those_of_real_transcripts_are_read(hf: Holdfast, shared_data: Path) -> None:
    place = shared_data / "transcripts"
    bring(hf, place / "codex/agent-sessions/small.jsonl", place / "opencode/session-bridge")
    found = [one for s in hf.every_session() for one in hf.session(s.id).foreign_snapshots()]
    assert {one.agent for one in found} == {"codex", "opencode"}
