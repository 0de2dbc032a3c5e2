"""`holdfast cost` and `holdfast status-line`: every call a row, four buckets, nothing twice."""

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.engine.bridge import drive
from holdfast.model.reply import Call, Usage
from tests.cli.running import run, values


def told(n: int, prompt: int = 1_000) -> dict[str, Any]:
    return {
        "id": f"msg_{n}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": prompt, "cache_read_input_tokens": 500,
                  "cache_creation_input_tokens": 100, "output_tokens": 50},
    }  # fmt: skip


def fill(path: Path) -> str:
    with holdfast.open(path) as hf:
        s = hf.session(model="claude-sonnet-4-6", title="t")
        for n in range(3):
            s.user(f"q{n}")
            s.reply(told(n))
        s.reply(told(2))  # told twice, counted once
        return s.id


@pytest.mark.seed("001", 97)
def test_what_it_cost(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    id = fill(path)
    done = run("--store", str(path), "cost", "--by", "model", "--json")
    (one,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert one["model"] == "claude-sonnet-4-6"
    assert (one["calls"], one["input_tokens"], one["cache_read_tokens"]) == (3, 3_000, 1_500)
    each = 1_000 * 3 + 500 * 0.3 + 100 * 3.75 + 50 * 15
    assert abs(one["cost_usd"] - 3 * each / 1e6) < 1e-9
    shown = run("--store", str(path), "cost", "--by", "session")
    assert id[:20] in shown.stdout
    assert "claude" not in shown.stdout
    assert "in all" in shown.stdout


@pytest.mark.seed("001", 171)
def test_sums_by_model_within_a_session_and_by_day(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    id = fill(path)
    with holdfast.open(path) as hf:
        s = hf.session(id)
        s.user("another")
        s.reply({**told(9), "model": "claude-haiku-4-5"})
        s.user("and another")
        s.reply({**told(10), "model": "nobody-knows-it"})
    cost = ("--store", str(path), "cost")
    (one,) = values(*cost, "--by", "session", "--session", id)
    assert [model["model"] for model in one["models"]] == [
        "claude-sonnet-4-6",
        "claude-haiku-4-5",
        "nobody-knows-it",
    ]
    assert one["unpriced_calls"] == one["models"][2]["unpriced_calls"] == 1
    assert round(sum(model["cost_usd"] or 0 for model in one["models"]), 9) == one["cost_usd"]
    shown = run(*cost, "--by", "session", "--models").stdout.splitlines()
    assert [line.split()[0] for line in shown[2:6]] == [
        "claude-sonnet-4-6",
        "claude-haiku-4-5",
        "nobody-knows-it",
        "in",
    ]
    assert shown[5].split()[2:4] == ["5", "5,000"]
    assert "no price is known of 1 call" in shown[6]
    (day,) = values(*cost)
    assert values(*cost, "--since", day["day"], "--until", day["day"]) == [day]
    assert values(*cost, "--since", "2999-01-01") == []
    assert values(*cost, "--until", "1999-12-31") == []
    assert "2026-03-31" in run(*cost, "--since", "tomorrow").stderr


@pytest.mark.seed("000", 149, 150, 151, 152, 153)
@pytest.mark.seed("001", 94, 95)
def test_a_status_line(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    fill(path)
    done = run("--store", str(path), "status-line")
    state = json.loads(done.stdout)
    window = state["context_window"]
    assert window["current_usage"]["cache_read_input_tokens"] == 500
    assert window["used_percentage"] == round(100 * 1_600 / window["context_window_size"])
    assert state["cost"]["total_cost_usd"] > 0
    assert state["exceeds_200k_tokens"] is False
    assert state["hook_event_name"] == "Status"
    assert state["version"] == metadata.version("holdfast")
    assert {*state} >= {"session_id", "transcript_path", "cwd", "model", "workspace"}
    assert state["output_style"]["name"] == "default"


@pytest.mark.seed("001", 162, 163, 164, 167)
def test_lines_and_the_last_call_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    id = fill(path)
    with holdfast.open(path) as hf:
        s = hf.session(id)
        edit = {"path": "a.py", "old": "one\n", "new": "two\nthree\n"}
        s.append(holdfast.assistant(holdfast.ToolCall("c", "edit", json.dumps(edit))))
        s.tool_result("c", "changed a.py", name="edit")
        beside = Call(
            id="beside", session=id, started=s.now() + 5, ended=s.now() + 9, cause="summary",
            model="claude-haiku-4-5", usage=Usage(input=190_000), cost=1,
        )  # fmt: skip
        for n in range(20):  # however many there are
            drive(s.store.calls.record(replace(beside, id=f"beside-{n}")))
        state, shot, forked = s.status(), s.snapshot(), s.fork()
        assert (state["cost"]["total_lines_added"], shot.lines_added) == (2, 2)
        assert (state["cost"]["total_lines_removed"], shot.lines_removed) == (1, 1)
        assert state["cost"]["total_api_duration_ms"] == shot.api_duration_ms >= 80
        assert state["cost"]["total_duration_ms"] == shot.session_duration_ms
        window = state["context_window"]
        assert state["model"]["id"] == "claude-sonnet-4-6"
        assert window["used_percentage"] == round(100 * 1_600 / window["context_window_size"])
        assert window["total_input_tokens"] == 3 * 1_600 + 20 * 190_000
        assert forked.status()["cost"]["total_lines_added"] == 0  # they are its parent's
        assert forked.status()["context_window"]["current_usage"]["input_tokens"] == 1_000
    (one,) = values("--store", str(path), "cost", "--by", "session", "--session", id)
    assert (one["lines_added"], one["lines_removed"]) == (2, 1)
    told = run("--store", str(path), "cost", "--session", id).stdout
    assert "2 lines added, 1 removed" in told


@pytest.mark.seed("001", 52)
def test_nothing_yet(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with holdfast.open(path) as hf:
        hf.session(model="m")
    assert "No call was recorded" in run("--store", str(path), "cost").stdout
