"""`holdfast stats`: groups, bars, JSON and pictures, also of real transcripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

import holdfast
from holdfast.cli.ui.format import date, rounded
from holdfast.cli.usage.stats import COLUMNS, lasted, priced, sources
from holdfast.core.stats import Stats
from holdfast.engine.bridge import drive
from holdfast.model.image_header import dimensions
from holdfast.model.log import Summary
from holdfast.model.message import ToolCall, assistant
from holdfast.model.reply import Call, Usage
from holdfast.model.span import Span
from tests.cli.running import run, terminal, values

COPILOT = "transcripts/other-copilot/vibecodingtracker/copilot.jsonl"
PI = "transcripts/other-pi/pi-mono/large-session.jsonl"


def filled(path: Path) -> None:
    """A session of our own: two calls, one compaction, a file read twice."""
    with holdfast.open(path) as hf:
        s = hf.session(model="claude-sonnet-4-6", directory="/home/me/one")
        s.user("Read it, please. " * 50)
        for n in range(2):
            s.append(assistant(ToolCall(f"c{n}", "Read", '{"file_path": "a.py"}')))
            s.tool_result(f"c{n}", "x = 1\n" * 200, name="Read")
        s.append(assistant("It is read."))
        for n in range(2):
            used = Usage(input=100, cache_read=300, output=7)
            call = Call(id=f"call{n}", session=s.id, started=1_000, model="claude-sonnet-4-6",
                        usage=used, cost=2_000_000, outcome="done")  # fmt: skip
            drive(hf.engine.store.calls.record(call))
        s.append(Summary(covers=(Span(1, 6),), text="Read.", prompt_before=50_000))
        s.user("Go on.")


def asked(path: Path, *words: str) -> list[dict[str, Any]]:
    return values("--store", str(path), "stats", *words)


def test_numbers_of_a_session_of_our_own(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    filled(path)
    (one,) = asked(path)
    assert (one["agent"], one["sessions"], one["calls"]) == ("holdfast", 1, 2)
    assert (one["input_tokens"], one["cache_read_tokens"], one["output_tokens"]) == (200, 600, 14)
    assert (one["cost_usd"], one["cache_hit_rate"]) == (0.004, 0.75)
    assert (one["reads"], one["rereads"], one["reread_files"]) == (2, 1, {"a.py": 1})
    (compaction,) = one["compactions"]
    assert compaction["share"] == 50_000 / compaction["window"]
    assert set(one["filled"]) == {"Read", "user", "model"}
    assert max(one["filled"], key=one["filled"].get) == "Read"
    (project,) = asked(path, "--by", "project")
    assert project["project"] == "/home/me/one"
    (model,) = asked(path, "--by", "model")
    assert model["model"] == "claude-sonnet-4-6"


def test_tools_that_do_the_same_are_one_bar_whatever_an_agent_calls_them() -> None:
    found = [
        Stats(name="a", filled={"Bash": 5, "Read": 2, "WebFetch": 1, "mine": 1}),
        Stats(name="b", filled={"run_shell_command": 3, "read_file": 4, "web_fetch": 1}),
        Stats(name="c", filled={"exec": 1, "apply_patch": 7, "edit": 1}),
    ]
    assert dict(sources(found)) == {
        "commands": 9, "reading files": 6, "changing files": 8, "the web": 2, "mine": 1,
    }  # fmt: skip


def test_charts_say_their_period_and_what_a_star_is(tmp_path: Path) -> None:
    path, svg = tmp_path / "log.db", tmp_path / "stats.svg"
    filled(path)
    with holdfast.open(path) as hf:
        s = hf.session(model="acme-ultra")
        call = Call(id="c", session=s.id, started=1_000, model="acme-ultra",
                    usage=Usage(input=5), outcome="done")  # fmt: skip
        drive(hf.engine.store.calls.record(call))
    (today,) = {date(one["ended"]) for one in asked(path) if one["ended"]}
    shown = run("--store", str(path), "stats", "--picture", str(svg)).stdout
    assert f"Said from {today} to {today}." in shown
    assert "* no price is known of some calls" in shown
    assert lasted([Stats(name="a")]) == ""
    assert priced(Stats(name="a", calls=2, unpriced=2)) == "unknown*"
    assert priced(Stats(name="a", calls=2, unpriced=1, cost=5_000_000_000)) == "$5.00*"


def test_what_came_before_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    filled(path)
    (one,) = asked(path, "--since", "2026-01-01")
    assert one["calls"] == 0  # they were in 1970
    assert len(one["compactions"]) == 1
    assert asked(path, "--since", "2200-01-01") == []


def test_real_transcripts_of_two_agents(shared_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    files = [shared_data / PI, shared_data / COPILOT]
    with holdfast.open(path) as hf:
        list(hf.import_from(*files))
    pi, copilot = asked(path)
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    said = [line["message"] for line in lines if line["type"] == "message"]
    used = [message["usage"] for message in said if "usage" in message]
    assert (pi["agent"], pi["sessions"]) == ("pi", 1)
    assert pi["cache_read_tokens"] == sum(one["cacheRead"] for one in used)
    assert pi["cost_usd"] == pytest.approx(sum(one["cost"]["total"] for one in used), abs=1e-6)
    assert pi["reads"] == reads_of(said)
    assert (copilot["agent"], copilot["reads"], copilot["rereads"]) == ("copilot-cli", 4, 0)
    assert copilot["cache_hit_rate"] == pytest.approx(151_738 / 186_809)
    shown = run("--store", str(path), "stats").stdout
    assert "What filled the windows, in tokens\n" in shown
    assert "█" in shown


def reads_of(said: list[dict[str, Any]]) -> int:
    """How often a tool named `read` answered without an error."""
    return sum(
        message["role"] == "toolResult" and message["toolName"] == "read"
        and not message.get("isError")
        for message in said
    )  # fmt: skip


@pytest.mark.parametrize("by", ["agent", "project", "model"])
def test_it_is_drawn(by: str, shared_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    filled(path)
    with holdfast.open(path) as hf:
        list(hf.import_from(shared_data / COPILOT))
    png, svg = tmp_path / "stats.png", tmp_path / "stats.svg"
    assert run("--store", str(path), "stats", "--by", by, "--picture", str(png)).exit_code == 0
    run("--store", str(path), "stats", "--by", by, "--picture", str(svg))
    assert dimensions(png.read_bytes()) == (1_560, 1_020)
    assert ElementTree.fromstring(svg.read_bytes()).tag == "{http://www.w3.org/2000/svg}svg"
    assert (png.stat().st_mode & 0o777, svg.stat().st_mode & 0o777) == (0o600, 0o600)


def test_names_are_drawn_as_they_are_written(tmp_path: Path) -> None:
    path, svg = tmp_path / "log.db", tmp_path / "stats.svg"
    with holdfast.open(path) as hf:
        for place in ("/tmp/$x^2$", "/tmp/<script>", "/tmp/\x1b[31m", "/tmp/" + "é" * 300):
            hf.session(directory=place, model="m").user("hello")
    done = run("--store", str(path), "stats", "--by", "project", "--picture", str(svg))
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert b"<script" not in svg.read_bytes()
    ElementTree.fromstring(svg.read_bytes())


def test_what_cannot_be_drawn_is_said_before_anything_is_read(tmp_path: Path) -> None:
    done = run("--store", str(tmp_path / "log.db"), "stats", "--picture", "stats.pdf")
    assert done.exit_code != 0
    assert "let it end in .png or .svg" in done.stderr
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from holdfast.cli import main\n"
        "main(['stats', '--picture', 'a.png'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "pip install 'holdfast[pictures]'" in done.stderr


def test_without_a_picture_matplotlib_is_not_touched(tmp_path: Path) -> None:
    filled(tmp_path / "log.db")
    code = (
        "import sys; from click.testing import CliRunner; from holdfast.cli import main\n"
        f"done = CliRunner().invoke(main, ['--store', {str(tmp_path / 'log.db')!r}, 'stats'])\n"
        "assert done.exit_code == 0, done.output\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_yet(tmp_path: Path) -> None:
    holdfast.open(tmp_path / "log.db").close()
    done = run("--store", str(tmp_path / "log.db"), "stats")
    assert "No session is there yet" in done.stdout


def test_the_table_fits_80_columns(shared_data: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    run("import", str(shared_data / "transcripts" / "codex"), "--store", store)
    for by in ("agent", "model", "project"):
        shown = terminal("stats", "--by", by, "--store", store).splitlines()
        head = shown[0].split()
        assert head == [by, "sess.", "calls", "sent", "cached", "output", "USD", "comp.", "full",
                        "reads", "again"]  # fmt: skip
        assert max(map(cell_len, shown)) <= 80
        few = terminal("stats", "--by", by, "--store", store, columns=50).splitlines()
        assert few[0].split()[0] == by
        assert {"sent", "USD"} <= set(few[0].split()) < set(head)
        assert max(map(cell_len, few[:2])) <= 50
        assert "…" not in "".join(few[1].split()[1:])
        piped = run("stats", "--by", by, "--store", store).stdout.splitlines()[0].split()
        assert piped == [by, *COLUMNS]


def test_numbers_are_rounded_to_three_digits() -> None:
    told = {0: "0", 9_999: "9,999", 10_000: "10.0k", 99_940: "99.9k", 99_960: "100k",
            999_499: "999k", 999_600: "1.0M", 84_191_791: "84.2M"}  # fmt: skip
    assert {value: rounded(value) for value in told} == told


def test_a_day_that_nothing_was_said_since_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    filled(path)
    assert run("--store", str(path), "stats", "--since", "2090-01-01").stdout == (
        "Nothing was said since 2090-01-01.\n"
    )
