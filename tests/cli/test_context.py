"""`holdfast context` and `holdfast explain`: numbers that agree, stretches named to their end."""

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.model.log import Clear, PartRef, Summary
from holdfast.model.message import ToolCall, assistant
from holdfast.model.span import Span
from tests.cli.running import run, values
from tests.engine.test_window import REPLY


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOLDFAST_STORE", str(tmp_path / "log.db"))
    return str(tmp_path / "log.db")


def asked(store: str, model: str = "claude-sonnet-4-6", **given: Any) -> PreparedWindow:
    with holdfast.open(store) as hf:
        s = hf.session(model=model)
        s.user("word " * 300)
        made = s.window(**given)
        made.request("anthropic")
        s.reply(REPLY)
        s.user("and now?")
        return s.preview(**given)


def test_what_is_shown_is_what_the_window_says(store: str) -> None:
    made = asked(store, system="Be brief.")
    (told,) = values("context", "last")
    assert (told["tokens"], told["tier"]) == (made.tokens, "estimate")
    assert told["error"] == made.count.error
    assert sum(told["sections"].values()) == told["tokens"]
    done = run("context", "last")
    assert f"{made.tokens:,} of" in done.stdout
    assert f"by estimate, ± {made.count.error}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "as the provider reported" in run("explain", "last").stdout


def test_money_is_in_dollars_and_says_so(store: str) -> None:
    asked(store)
    (told,) = values("explain", "last")
    (block,) = told["blocks"]
    assert 0 < block["cost_usd"] < 0.01
    assert "cost" not in block


def test_a_covered_stretch_is_named_to_its_end(store: str) -> None:
    with holdfast.open(store) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for _ in range(3):
            s.user("one")
            s.append(assistant("two"))
        s.append(Summary(covers=(Span(1, 5),), text="sum", kept=(3,), step="shed", reason="full"))
    done = run("context", "last")
    assert "Entries 1–2, 4–5: covered by the shed of entry 7: full." in done.stdout
    assert "#7 Summary · shed · covers 1–5" in run("show", "last").stdout
    (told,) = values("context", "last")
    assert told["absent"][0]["spans"] == [[1, 2], [4, 5]]


def test_without_a_model_it_says_how_to_name_one(store: str) -> None:
    with holdfast.open(store) as hf:
        hf.session().user("hello")
    for command in ("context", "explain"):
        told = " ".join(run(command, "last").stdout.split())
        assert "-m MODEL" in told
        assert "`holdfast models --all` lists them" in told
    done = run("context", "last", "-m", "gpt-4o")
    assert "gpt-4o" in done.stdout
    assert "-m MODEL" not in done.stdout


def test_what_many_markers_cleared_for_one_reason_is_told_once() -> None:
    with holdfast.open() as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("Read it.")
        for call in map(str, range(51)):
            s.append(holdfast.assistant(ToolCall(call, "Read", "{}")))
            s.tool_result(call, "x = 1\n" * 9, name="Read")
        for call in range(51):
            s.append(Clear(parts=(PartRef(3 + 2 * call, 0),), trigger="idle", step="import"))
    for words in (("context", "last"), ("explain", "last")):
        told = " ".join(run(*words).stdout.split())
        assert told.count("content cleared by") == 1
        assert "content cleared by entries 104–154: import." in told
    assert "154` takes the newest of them back" in " ".join(run("context", "last").stdout.split())
