"""What was typed is kept over all sessions, within its bound, and is read by position."""

import json
import threading
from pathlib import Path

import pytest

from holdfast.cli.chat.prompt_history import SOFT_CAP, PromptHistory, typed_history


@pytest.mark.seed("000", 34, 35, 36)
def test_each_line_names_its_session_and_its_time(tmp_path: Path) -> None:
    kept = PromptHistory(tmp_path / "prompts.jsonl")
    kept.append("one", 1_710_523_927, "Fix the login handler\nand its test")
    threads = [
        threading.Thread(target=kept.append, args=(f"s{n}", n, "x" * 9_000)) for n in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)
    lines = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]
    assert lines[0] == {
        "session_id": "one", "ts": 1_710_523_927, "text": "Fix the login handler\nand its test",
    }  # fmt: skip
    assert sorted(line["session_id"] for line in lines[1:]) == [f"s{n}" for n in range(8)]
    assert (tmp_path / "prompts.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.seed("000", 37, 38)
def test_the_oldest_leave_down_to_four_fifths_and_the_newest_always_stays(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    kept = PromptHistory(file, 2_000)
    for n in range(60):
        kept.append("s", n, f"prompt {n} " + "x" * 40)
        assert file.stat().st_size <= 2_000
    sizes = []
    for n in range(60, 90):
        kept.append("s", n, f"prompt {n} " + "x" * 40)
        sizes.append(file.stat().st_size)
    assert min(sizes) <= 2_000 * SOFT_CAP
    assert next(kept.newest_first()).text.startswith("prompt 89 ")
    kept.append("s", 99, "y" * 5_000)
    assert [one.text for one in kept.newest_first()] == ["y" * 5_000]


@pytest.mark.seed("000", 44, 45, 46)
def test_a_position_holds_for_the_log_that_was_seen_only(tmp_path: Path) -> None:
    kept = PromptHistory(tmp_path / "prompts.jsonl", 400)
    for n in range(3):
        kept.append("s", n, f"prompt {n}")
    log, count = kept.metadata()
    assert count == 3
    found = kept.lookup(log, 1)
    assert found
    assert found.text == "prompt 1"
    assert kept.lookup(log, 3) is None
    kept.append("s", 9, "z" * 400)  # it is trimmed: another log
    assert kept.lookup(log, 0) is None
    assert kept.metadata()[0] != log


def test_the_arrow_upwards_goes_over_all_sessions(tmp_path: Path) -> None:
    first = typed_history(tmp_path / "p.jsonl", 0, lambda: "one", lambda: 1, str.upper)
    first.store_string("said in one")
    with (tmp_path / "p.jsonl").open("a") as file:
        file.write("no json\n")
    second = typed_history(tmp_path / "p.jsonl", 0, lambda: "two", lambda: 2, str)
    second.store_string("said in two")
    assert [*second.load_history_strings()] == ["said in two", "SAID IN ONE"]
