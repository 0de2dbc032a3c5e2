"""`holdfast cost` and `holdfast status-line`: every call a row, four buckets, nothing twice."""

import json
from pathlib import Path
from typing import Any

import holdfast
from tests.cli.running import run


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
    assert "in all" in shown.stdout


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


def test_nothing_yet(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with holdfast.open(path) as hf:
        hf.session(model="m")
    assert "No call was recorded" in run("--store", str(path), "cost").stdout
