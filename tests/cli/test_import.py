"""`holdfast import`: finding, importing, reporting, watching."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import holdfast
from holdfast.engine.plugins import importer, importers
from tests.cli.running import program, run, terminal, values
from tests.importers.writing import SESSION, Transcript, story, text

PAUSE = 2.0
"""What is promised, in numbers: these tests stand at its edges."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: nobody's transcripts are looked for."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_usual_places_are_found_by_themselves(home: Path) -> None:
    story().write(home / ".claude" / "projects" / "-home-me-project")
    done = run("import")
    assert done.exit_code == 0, done.output
    assert f"{SESSION}.jsonl" in done.stdout
    assert "1 file · 1 session · 13 entries new · 1 compaction · 0 problems" in done.stdout
    (session,) = values("sessions")
    assert session["title"] == "The roof"
    assert run("import").stdout == "1 file · 1 unchanged · nothing new\n"


def test_nothing_in_the_usual_places_is_said() -> None:
    done = run("import")
    assert done.exit_code != 0
    assert "name a file or a directory" in done.stderr
    assert "~/.copilot/session-state" in done.stderr
    told = run("import", "--agent", "codex").stderr
    assert "the usual places of codex: ~/.codex/sessions" in told
    assert ".copilot" not in told


def test_a_place_without_transcripts_is_told_with_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    done = run("import", str(tmp_path / "p"))
    assert done.exit_code != 0
    assert f"no transcript was found in {tmp_path / 'p'}" in done.stderr
    assert "claude-code, copilot-cli" in done.stderr
    assert not done.stdout
    (tmp_path / "p" / "notes.txt").write_text("Buy nails.")
    assert "notes.txt" in run("import", str(tmp_path / "p")).stdout


def test_transcripts_of_other_programs_are_told_where_one_is_asked_for(tmp_path: Path) -> None:
    story().write(tmp_path / "p")
    done = run("import", "--agent", "codex", str(tmp_path / "p"))
    assert done.exit_code != 0
    assert "no transcript of codex was found" in done.stderr
    assert "but 1 of claude-code" in done.stderr


def test_the_help_names_every_program_and_where_it_is_looked_for() -> None:
    told = run("import", "--help").stdout
    for name in importers():
        line = told[told.index(f" {name} ") :]
        assert all(place in line for place in importer(name).default_paths()), name


def test_a_file_without_a_conversation_is_no_problem(tmp_path: Path) -> None:
    told = Transcript()
    told.bare(type="file-history-snapshot", messageId="m", snapshot={"a": 1})
    told.bare(type="summary", summary="Somebody else's", leafUuid="nowhere")
    told.write(tmp_path / "p", name="empty.jsonl")
    other = Transcript("6d1a2b3c-0000-4000-8000-000000000001")
    other.user("Hello.")
    other.write(tmp_path / "p")
    first = run("import", str(tmp_path / "p")).stdout
    assert "2 files · 1 without a conversation · 1 session · 1 entry new" in first
    assert "0 problems" in first
    assert "Worth knowing\n" in first
    again = run("import", str(tmp_path / "p")).stdout
    assert again == "2 files · 1 unchanged · 1 without a conversation · nothing new\n"


def test_a_report_tells_every_problem_with_its_line(tmp_path: Path) -> None:
    path = story().write(tmp_path / "p")
    path.write_bytes(path.read_bytes() + b'{"type": "half\n')
    lines = len(path.read_bytes().splitlines())
    done = run("import", str(path))
    assert f"{path}:{lines}: is no JSON" in done.stdout
    assert "Kept as they are, beside what was said:" in done.stdout
    path.touch()
    (report,) = values("import", str(path))
    assert report["problems"] == [
        {"line": lines, "what": report["problems"][0]["what"], "severity": "damaged"}
    ]
    assert report["importer"] == "claude-code"
    assert (report["entries"], report["unchanged"], report["troubles"]) == (0, False, 1)
    assert report["kept"]["progress"] == 1


def test_files_and_their_problems_are_told_in_order_beneath_a_heading(tmp_path: Path) -> None:
    names = ("a/deep/one.jsonl", "b.jsonl")
    for name in names:
        file = tmp_path / "p" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        made = story().write(tmp_path / "made").read_text().replace(SESSION, name[0] * 8)
        file.write_text(made + '{"type": "half\n')
    told = run("import", str(tmp_path / "p")).stdout.splitlines()
    heading = told.index("Problems")
    for part in (told[:heading], told[heading:]):
        found = [line for line in part if ".jsonl" in line]
        assert [name in line for name, line in zip(names, found, strict=True)] == [True, True]


def test_the_same_problem_is_told_once_with_how_often_and_where(tmp_path: Path) -> None:
    for name in ("a" * 90, "b"):
        told = Transcript(name)
        for _ in range(12):
            told.user("Hello.")
        path = told.write(tmp_path / "p" / ("deep" * 20))
        half = b"".join(b'{"type": "half' + b"x" * number + b"\n" for number in range(8))
        path.write_bytes(path.read_bytes() + half)
    shown = terminal("import", str(tmp_path / "p")).splitlines()
    assert max(map(cell_len, shown)) <= 80
    (what,) = (line for line in shown if "is no JSON" in line)
    assert what.endswith("(16 times)")
    (long, short) = shown[shown.index(what) + 1 :][:2]
    assert long.startswith("  aaa")
    assert long.endswith("aaa.jsonl:13, 14, 15, 16, 17, …")
    assert short == "  b.jsonl:13, 14, 15, 16, 17, …"
    for path in (tmp_path / "p").rglob("*.jsonl"):
        path.touch()
    piped = run("import", str(tmp_path / "p")).stdout
    assert f"/b.jsonl:13, 14, 15, 16, 17, …: {what.replace('16 times', '8 times')}" in piped


def test_what_is_no_transcript_is_named_with_why(tmp_path: Path) -> None:
    place = tmp_path / "p"
    story().write(place)
    (place / "notes.jsonl").write_text('{"hello": "you"}\n')
    (place / "empty.jsonl").write_bytes(b"")
    (place / "page.html").write_text("<p>")
    (place / "link.jsonl").symlink_to(place / "notes.jsonl")
    told = run("import", str(place)).stdout
    for name, why in {
        "notes.jsonl": "it does not begin as the transcripts of any known program do",
        "empty.jsonl": "it is empty",
        "page.html": "no known program gives its transcripts such a name",
        "link.jsonl": "it is a link, and none is followed",
    }.items():
        assert f"Left aside: {why}\n  {place / name}\n" in told
    again = values("import", str(place))
    aside = {Path(one["path"]).name for one in again if "left_aside" in one}
    assert aside == {"notes.jsonl", "empty.jsonl", "page.html", "link.jsonl"}
    assert "left_aside" not in str(values("import", str(place), "--agent", "claude-code"))


def test_what_is_read_with_a_transcript_is_not_left_aside(home: Path) -> None:
    place = home / ".claude" / "projects" / "-home-me-project"
    story().write(place)
    notes = place / SESSION / "session-memory" / "summary.md"
    notes.parent.mkdir(parents=True)
    notes.write_text("# Title\nRoof\n")
    (place / "a.png").write_bytes(b"x")
    for _ in range(2):
        assert "Left aside" not in run("import").stdout
        assert not [one for one in values("import") if "left_aside" in one]
    (place / "strange.jsonl").write_text("{}\n")
    assert "nothing new · 1 other file left aside" in run("import").stdout
    assert "strange.jsonl" in run("import", "--again").stdout


def test_a_report_fits_a_terminal_of_80_columns(tmp_path: Path) -> None:
    for n in range(60):
        told = Transcript(f"5d1a2b3c-0000-4000-8000-{n:012d}")
        told.user(f"Hello for the time {n}.")
        if n == 57:
            told.bare(type="strange", sessionId=told.session)
        told.write(tmp_path / "p" / f"a-directory-with-a-long-name-{n % 7}")
    shown = terminal("import", str(tmp_path / "p"))
    lines = shown.splitlines()
    assert max(map(cell_len, lines)) <= 80
    header = next(line for line in lines if line.startswith("file "))
    assert header.split() == ["file", "entries", "compactions", "problems"]
    rows = [line for line in lines if line.endswith("–") or line.rstrip().endswith(" 1")]
    assert len(rows) == 40
    assert any("000000000057.jsonl" in row for row in rows)
    assert "… 20 files more" in lines
    assert f"holdfast import --again {tmp_path / 'p'} | less" in "".join(lines)
    assert "records of kind 'strange' are kept" in " ".join(lines)
    again = run("import", "--again", str(tmp_path / "p")).stdout
    assert again.count(".jsonl  ") == 60
    assert "records of kind 'strange' are kept" in again
    assert "60 files · 60 sessions · 0 entries new · 0 compactions · 1 problem" in again


def test_only_the_program_that_is_named_is_imported(tmp_path: Path) -> None:
    story().write(tmp_path / "p")
    assert len(values("import", str(tmp_path / "p"), "--agent", "claude-code")) == 1
    done = run("import", str(tmp_path / "p"), "--agent", "claude")
    assert "claude-code" in done.stderr


def test_what_a_transcript_holds_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    told = Transcript()
    told.user("Hello.")
    told.bare(type="\x1b[31mred", sessionId=SESSION)
    told.write(tmp_path / "p\x1b[0m")
    done = program("import", str(tmp_path / "p\x1b[0m"))
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout


def test_an_imported_session_is_shown_and_found(tmp_path: Path) -> None:
    run("import", str(story().write(tmp_path / "p")))
    shown = run("show", "last").stdout
    assert "Nothing is left." in shown
    assert "kept]" not in shown
    assert "file-history-snapshot" in run("show", "last", "--all").stdout
    hits = values("search", "painted", "red")
    assert [hit["snippet"] for hit in hits] == ["Painted red."]
    assert values("search", "--exact", "bash_progress") == []


@contextmanager
def watched(path: Path) -> Iterator[Callable[[], dict[str, Any]]]:
    """What is told of a file that is watched, report by report."""
    command = [sys.executable, "-m", "holdfast.cli", "import", "--watch", "--json", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        out = watching.stdout
        assert out
        try:
            yield lambda: json.loads(out.readline())
        finally:
            watching.terminate()


def rested(path: Path) -> None:
    old = time.time() - 60
    os.utime(path, (old, old))


def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    told = Transcript()
    told.user("One.")
    path = told.write(tmp_path / "p")
    with watched(path) as report:
        assert report()["entries"] == 1
        told.user("Two.")
        told.reply("msg_1", text("Three."))
        told.write(tmp_path / "p")
        rested(path)
        assert report()["entries"] == 2


def test_a_line_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    told = Transcript()
    told.user("One.")
    path = told.write(tmp_path / "p")
    told.user("Two.")
    with watched(path) as report:
        assert report()["entries"] == 1
        half = len(told.lines[1]) // 2
        with path.open("ab") as file:
            file.write(told.lines[1][:half])
            file.flush()
            time.sleep(3 * PAUSE)
            file.write(told.lines[1][half:])
        done = report()
    assert (done["entries"], done["troubles"], done["kept"]) == (1, 0, {})
    path.write_bytes(told.lines[0] + told.lines[1][:half])
    assert values("import", str(path))[0]["troubles"] == 1


def test_a_file_that_takes_the_place_of_another_is_followed(tmp_path: Path) -> None:
    told = Transcript()
    told.user("One.")
    path = told.write(tmp_path / "p")
    with watched(path) as report:
        assert report()["entries"] == 1
        path.rename(path.with_suffix(".old"))
        time.sleep(2 * PAUSE)
        path.write_bytes(b"")
        time.sleep(2 * PAUSE)
        other = Transcript("5d1a2b3c-0000-4000-8000-000000000002")
        other.user("Of another day.")
        path.write_bytes(b"".join(other.lines))
        (session,) = report()["sessions"]
    shown, kept = run("show", session).stdout, run("show", session, "--all").stdout
    assert "Of another day." in shown
    assert "One." not in shown
    assert "One." in kept


def test_a_path_that_is_no_transcript_is_told_and_the_others_are_imported(tmp_path: Path) -> None:
    good, bad = story().write(tmp_path / "p"), tmp_path / "notes.txt"
    bad.write_text("Buy nails.")
    done = run("import", str(bad), str(good))
    assert done.exit_code == 1
    assert f"{bad}: {bad} is no transcript that can be imported" in done.stdout
    assert "13 entries new" in done.stdout
    assert run("import", str(good)).exit_code == 0


def test_watching_says_so_names_problems_and_takes_its_leave(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    command = [sys.executable, "-m", "holdfast.cli", "import", "--watch", str(tmp_path / "p")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout
        assert watching.stderr
        assert watching.stderr.readline().startswith(f"Watching {tmp_path / 'p'}")
        told = Transcript()
        told.user("One.")
        told.bare(type="strange", sessionId=told.session)
        rested(told.write(tmp_path / "p"))
        assert "1 entry new, 1 problem" in watching.stdout.readline()
        assert watching.stdout.readline() == "Problems\n"
        assert "records of kind 'strange'" in watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        _, error = watching.communicate(timeout=30)
        assert "No longer watching" in error
        assert "Traceback" not in error
        assert watching.returncode == 130


def test_whose_session_it_is_can_be_seen(tmp_path: Path) -> None:
    path = story().write(tmp_path / "p")
    run("import", str(path))
    with holdfast.open() as hf:
        own = hf.session(title="My own").id
        hf.session(own).user("Hello.")
    for columns in (80, 120):
        lines = terminal("sessions", columns=columns).splitlines()
        assert "program" in lines[0]
        assert ("model" in lines[0]) == (columns == 120)
        assert max(map(cell_len, lines)) <= columns
        assert any("The roof" in line and "claude-code" in line for line in lines)
    assert [one["title"] for one in values("sessions", "--agent", "Claude-Code")] == ["The roof"]
    assert "did you mean claude-code?" in run("sessions", "--agent", "claudecode").stderr
    (one,) = values("sessions", "--agent", "claude-code")
    shown = run("show", one["id"]).stdout
    assert " · claude-code · " in shown
    assert f"\nimported from {path}\n" in shown
    assert "imported from" not in run("show", own).stdout
    assert {group["agent"] for group in values("cost", "--by", "agent")} == {"claude-code"}


def test_how_long_models_took_is_left_out_where_nobody_tells(tmp_path: Path) -> None:
    run("import", str(story().write(tmp_path / "p")))
    (one,) = values("sessions")
    told = run("cost", "--session", one["id"]).stdout
    assert "models took" not in told
    assert " active\n" in told
    (value,) = values("cost", "--by", "session", "--session", one["id"])
    assert value["api_ms"] == 0


def test_a_wide_terminal_shows_names_whole(tmp_path: Path) -> None:
    name = f"a-directory-with-a-name-that-is-long-enough/{SESSION}.jsonl"
    story().write(tmp_path / "p" / name.partition("/")[0])
    other = Transcript("7d1a2b3c-0000-4000-8000-000000000001")
    other.user("Hello.")
    other.write(tmp_path / "p")
    shown = terminal("import", str(tmp_path / "p"), columns=120)
    assert name in shown
    assert max(map(cell_len, shown.splitlines())) <= 120
