"""One conversation, one number: whichever command, value or line of the chat is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from msgspec.structs import replace

import holdfast
from holdfast.cli.context.compaction_line import line
from holdfast.cli.context.fullness import change, of_window, percent
from holdfast.cli.ui.entry_text import compaction
from holdfast.cli.ui.format import now
from holdfast.cli.usage.burn_rate import hourly, rates, running
from holdfast.cli.usage.cost import money_of, spent_in_words, worked
from holdfast.engine.client import Holdfast
from holdfast.engine.usage.costs import Costs
from holdfast.errors import AssumedModel
from holdfast.model.log import Clear, Entry, PartRef, Summary
from holdfast.model.span import Span
from holdfast.model.window import BudgetSnapshot
from holdfast.testing import StrictServer
from tests.cli.running import run, values
from tests.importers.looking import bring, only
from tests.importers.rollouts import Rollout
from tests.importers.writing import Transcript, text

WORDS = "It stands on the hill, and the wind goes through it. "


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOLDFAST_STORE", str(tmp_path / "log.db"))
    return str(tmp_path / "log.db")


def codex(turns: int = 12, model: str = "gpt-5.1-codex", used: int = 1_000) -> Rollout:
    """A session whose calls are sent so much more each turn, beginning with 20,000."""
    told = Rollout()
    for turn in range(turns):
        told.start(model)
        told.asks(f"Mend number {turn}. {WORDS * 20}")
        told.replies(f"Mended number {turn}. {WORDS * 20}")
        told.uses(20_000 + used * turn, 0, 400)
    return told


def imported(store: str, tmp_path: Path, told: Any) -> str:
    with holdfast.open(store) as hf:
        bring(hf, told.write(tmp_path / "p"))
        return only(hf).id


def said_of(id: str, store: str, *, planned: bool = True) -> dict[str, int]:
    """What every place says would be sent."""
    with holdfast.open(store) as hf:
        session = hf.session(id)
        found = {
            "explain_now": session.explain_now().tokens,
            "snapshot": session.snapshot().used_tokens,
            "status": session.status()["context_window"]["used_tokens"],
        }
    (context,), (state,) = values("context", id), values("status-line", id)
    found |= {"context": context["tokens"], "status-line": state["context_window"]["used_tokens"]}
    found["sections"] = sum(context["sections"].values())
    number = f"{context['tokens']:,} of {context['window']:,} tokens"
    found["context in words"] = context["tokens"] if number in run("context", id).stdout else 0
    shown = run("show", id).stdout
    found["show"] = context["tokens"] if f"would be sent: {number}" in shown else 0
    if planned:
        (plan,) = values("compact", id, "--preview")
        found["compact"] = plan["window"]["before"]
    return found


def test_an_imported_session_has_one_number_from_what_its_program_recorded(
    store: str, tmp_path: Path
) -> None:
    id = imported(store, tmp_path, codex())
    found = said_of(id, store)
    assert len(set(found.values())) == 1, found
    (told,) = values("context", id)
    assert told["sent"] == 31_000
    assert 31_000 < told["tokens"] < 31_000 + 1_000  # with its reply
    assert (told["window"], told["window_from"]) == (258_400, "recorded")
    assert told["room"] < 258_400
    assert told["unrecorded"] == told["sections"]["unrecorded"] > 20_000
    shown = " ".join(run("context", id).stdout.split())
    assert "what codex sent besides the messages: its system prompt and tools" in shown
    assert "The newest call was sent 31,000, its reply not included." in shown
    assert "as codex recorded" in shown


def test_a_fork_is_as_full_as_what_it_shares_was_then(store: str, tmp_path: Path) -> None:
    id = imported(store, tmp_path, codex())
    (whole,) = values("context", id)
    with holdfast.open(store) as hf:
        copy, early = hf.session(id).fork().id, hf.session(id).fork(at=12).id
    (told,) = values("context", copy)
    for name in ("tokens", "sent", "window", "window_from", "unrecorded", "program"):
        assert told[name] == whole[name], name
    (told,) = values("context", early)
    assert told["sent"] == 25_000
    assert 25_000 < told["tokens"] < 25_000 + 1_000
    for one in (copy, early):
        found = said_of(one, store)
        assert len(set(found.values())) == 1, found


def test_a_fork_has_the_window_that_its_program_used(store: str, tmp_path: Path) -> None:
    told = Transcript()
    for turn in range(3):
        told.user("Mend the roof.")
        told.reply(f"m{turn}", text("Done."), usage={"input_tokens": 150_000 + 60_000 * turn})
    id = imported(store, tmp_path, told)
    with holdfast.open(store) as hf:
        copy, early = hf.session(id).fork().id, hf.session(id).fork(at=2).id
    (whole,), (same,), (before,) = (values("context", one) for one in (id, copy, early))
    assert (same["window"], same["window_from"]) == (whole["window"], whole["window_from"])
    assert same["window"] > 210_000
    assert (before["window"], before["sent"]) == (200_000, 150_000)


def test_a_compaction_and_its_undo_go_from_that_number_and_back_to_it(
    store: str, tmp_path: Path
) -> None:
    id = imported(store, tmp_path, codex(turns=40, used=500))
    (before,) = values("context", id)
    run("compact", id)
    (after,) = values("context", id)
    (marker,) = after["markers"]
    assert (marker["prompt_before"], marker["prompt_after"]) == (before["tokens"], after["tokens"])
    assert after["tokens"] < before["tokens"]
    assert after["unrecorded"] == before["unrecorded"]
    (back,) = values("undo", id)
    assert (back["window"]["before"], back["window"]["after"]) == (
        after["tokens"], before["tokens"],
    )  # fmt: skip


def test_what_is_sent_from_here_is_counted_as_it_is_and_no_more_as_it_was_recorded(
    store: str, tmp_path: Path
) -> None:
    id = imported(store, tmp_path, codex())
    with holdfast.open(store) as hf:
        session = hf.session(id)
        session.user("Go on.")
        session.window(model="gpt-5.1", system="Be brief.").request("openai-responses")
        session.reply({
            "id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5.1",
            "output": [{"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "Done."}]}],
            "usage": {"input_tokens": 9_000, "output_tokens": 3},
        })  # fmt: skip
    (told,) = values("context", id)
    assert (told["program"], told["unrecorded"]) == ("", None)
    assert told["window_from"] == "model"
    assert told["sent"] == 9_000
    assert len({*said_of(id, store).values()}) == 1


@pytest.mark.slow
def test_a_session_of_our_own_has_one_number_also_compacted_and_once_that_is_taken_back(
    store: str,
) -> None:
    tool = {"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}
    with StrictServer(lambda asked: "Mended it with lime and stone. " * 40) as server:
        client = Anthropic(api_key="any", base_url=server.url("anthropic"))
        with holdfast.open(store) as hf, client:
            session, sent = hf.session(model="claude-sonnet-4-6"), 0
            for turn in range(12):
                session.user(f"Please mend wall {turn} of the north tower. " * 20)
                window = session.window(system="You are a mason. " * 50, tools=[tool])
                session.reply(client.messages.create(**window.request("anthropic")))
                sent = window.tokens
            id = session.id
    (before,) = {*said_of(id, store).values()}
    (told,) = values("context", id)
    assert {"tools", "system"} < told["sections"].keys()
    assert before > sent  # with the newest reply
    (done,) = values("compact", id)
    (after,) = {*said_of(id, store, planned=False).values()}
    assert after < before
    shown = f"{before:,} → {after:,} tokens"
    assert shown in run("context", id).stdout
    (back,) = values("undo", id)
    assert (back["window"]["before"], back["window"]["after"]) == (after, before)
    assert {*said_of(id, store).values()} == {before}
    (again,) = values("redo", id)
    assert again["window"]["after"] == after
    assert {*said_of(id, store, planned=False).values()} == {after}
    assert done["marker"]


def test_a_program_that_recorded_no_sizes_leaves_its_system_prompt_unknown(
    store: str, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    told.reply("m1", text("It is mended."), usage={"input_tokens": 0})
    id = imported(store, tmp_path, told)
    (found,) = values("context", id)
    assert (found["sent"], found["unrecorded"]) == (None, None)
    shown = " ".join(run("context", id).stdout.split())
    assert "claude-code recorded no size of this prompt" in shown
    assert "is unknown, and is not in this number" in shown


def test_a_past_call_of_another_program_is_explained_as_far_as_it_was_recorded(
    store: str, tmp_path: Path
) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    told.reply("m1", text("Which?"), usage={"input_tokens": 5_000, "output_tokens": 7})
    told.user("The north one.")
    told.reply("m2", text("Done."), usage={"input_tokens": 6_000, "output_tokens": 3})
    id = imported(store, tmp_path, told)
    (found,) = values("explain", id, "--entry", "2")
    assert (found["tokens"], found["sent"], found["program"]) == (5_000, 5_000, "claude-code")
    assert [one["source"] for one in found["blocks"]] == ["claude-code", "entry 1"]
    assert found["call"]
    shown = " ".join(run("explain", id, "--entry", "2").stdout.split())
    assert "claude-code made the call behind entry 2" in shown
    assert "Of its prompt 5,000 were fresh" in shown


def test_a_reply_whose_call_nobody_named_has_the_window_of_its_session(
    store: str, tmp_path: Path
) -> None:
    id = imported(store, tmp_path, codex(turns=3))
    (reply, *_) = [one["seq"] for one in values("show", id) if one["role"] == "assistant"]
    (found,) = values("explain", id, "--entry", str(reply))
    assert (found["window"], found["window_from"]) == (258_400, "recorded")
    assert (found["sent"], found["call"]) == (None, None)


def test_a_prompt_that_is_larger_than_its_window_is_said_to_be_over_it() -> None:
    assert percent(408_220, 27_238) == "1499%, over it"
    assert percent(200_100, 200_000) == "101%, over it"


def test_a_window_that_less_fits_in_than_was_there_is_unknown(store: str, tmp_path: Path) -> None:
    told = codex(turns=2, model="acme-ultra", used=400_000)
    for record in told.records:
        info = record["payload"].get("info") or record["payload"]
        info.pop("model_context_window", None)
    id = imported(store, tmp_path, told)
    (found,) = values("context", id)
    (state,) = values("status-line", id)
    assert found["sent"] == 420_000
    assert (found["window"], found["room"], found["over"]) == (None, None, 0)
    assert found["window_from"] == "unknown"
    assert state["context_window"]["used_percentage"] is None
    shown = run("context", id).stdout
    assert "tokens of a window of unknown size" in shown.splitlines()[0]
    assert "%" not in shown.splitlines()[0]
    with holdfast.open(store) as hf:
        assert hf.session(id).explain_now().share is None


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ((132_627, 0, 0), "132,627 → unknown tokens"),
        ((0, 0, 200_000), "the prompt's size is unknown"),
        ((90_000, 50_000, 200_000), "90,000 → 50,000 tokens of the window of 200,000 (45% → 25%)"),
        ((300, 20, 200_000), "300 → 20 tokens of the window of 200,000 (<1% → <1%)"),
    ],
)
def test_a_size_that_nobody_told_is_unknown_and_never_nothing(
    told: tuple[int, int, int], words: str
) -> None:
    assert change(*told) == words


def test_a_share_of_an_unknown_window_is_unknown() -> None:
    assert of_window(408_220, 0) == "408,220 tokens of a window of unknown size"
    assert percent(5, 0) == "share unknown"
    assert of_window(50, 200) == "50 of 200 tokens (25%)"


def test_a_cost_that_nobody_knows_is_unknown() -> None:
    assert money_of(0, 3, 3) == "cost unknown"
    assert money_of(0, 0, 3) == "$0.0000"
    assert money_of(5_000_000, 1, 3) == "$0.0050 and 1 call of unknown price"
    shot = BudgetSnapshot(
        context_window_size=0, used_tokens=0, used_percentage=0, remaining_tokens=0,
        unpriced_calls=2,
    )  # fmt: skip
    assert spent_in_words(shot) == "cost unknown"


def test_models_never_take_longer_than_what_they_are_a_part_of() -> None:
    def shot(api: int, active: int) -> BudgetSnapshot:
        return BudgetSnapshot(
            context_window_size=0, used_tokens=0, used_percentage=0, remaining_tokens=0,
            api_duration_ms=api, session_duration_ms=active,
        )  # fmt: skip

    assert "models took 0:00:10 of 0:01:34 active" in worked(shot(10_000, 94_000))
    longer = worked(shot(73_146_000, 94_000))
    assert longer.endswith("0:01:34 active · calls of models took 20:19:06 together")


def test_a_compaction_tells_in_a_line_what_why_who_how_much_and_how_to_undo() -> None:
    body = Summary(
        covers=(Span(1, 40),), text="They mended.", kept=(1,), trigger="auto", step="summarise",
        model="claude-haiku-4-5", cost=3_100_000, reason="the window is full",
        prompt_before=180_000, prompt_after=60_000,
    )  # fmt: skip
    assert line(body, undo="/undo", window=200_000) == (
        "compacted: a summary stands for entries 2–40, since the window is full; written by "
        "claude-haiku-4-5 for $0.0031; 180,000 → 60,000 tokens of the window of 200,000 "
        "(90% → 30%); /undo takes it back"
    )
    cleared = Clear(parts=(PartRef(3, 0), PartRef(9, 1)), trigger="idle", prompt_before=9_000,
                    prompt_after=4_000)  # fmt: skip
    assert line(cleared, undo="/undo") == (
        "compacted: 2 outputs of entries 3–9 cleared, since what was cached had run out; no model "
        "was asked; 9,000 → 4,000 tokens; /undo takes it back"
    )


def test_who_wrote_an_imported_summary_and_what_it_left_is_unknown_where_nobody_said() -> None:
    body = Summary(
        covers=(Span(1, 9),), text="They mended.", trigger="manual", step="import",
        policy="claude-code", tokens_before=132_627,
    )  # fmt: skip
    told = line(body, undo="/undo")
    assert "written by a model of claude-code, cost unknown; 132,627 → unknown tokens" in told
    unpriced = Summary(covers=(Span(1, 9),), text=".", model="acme-ultra", prompt_before=9)
    assert "written by acme-ultra for an unknown cost" in line(unpriced, undo="/undo")


def test_a_summary_that_nobody_told_the_price_of_was_not_free() -> None:
    def cost(**told: Any) -> float | None:
        body = Summary(covers=(Span(1, 9),), text="They mended.", **told)
        entry = Entry(id="e10", session="s", seq=10, body=body, created=1, completed=1)
        return compaction(entry, "s")["cost_usd"]

    assert cost(step="import", trigger="auto", policy="claude-code") is None
    assert cost(step="import-extract", model="gpt-5.1-codex", policy="codex") is None
    assert cost(step="summarise", model="acme-ultra") is None
    assert cost(step="summarise", model="claude-haiku-4-5", cost=3_100_000) == 0.0031
    assert cost(step="extract") == 0


def test_calls_of_unknown_price_have_no_price_in_the_table(tmp_path: Path, store: str) -> None:
    with holdfast.open(store) as hf:
        _unpriced(hf)
    assert "unknown*" in run("cost").stdout
    (told,) = values("cost")
    assert (told["cost_usd"], told["unpriced_calls"]) == (None, 1)
    assert "unknown*" in run("stats").stdout


def _unpriced(hf: Holdfast) -> None:
    session = hf.session(model="acme-ultra")
    session.user("hello")
    with pytest.warns(AssumedModel):
        session.window().request("openai-chat")
    session.reply({
        "id": "c1", "model": "acme-ultra",
        "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    })  # fmt: skip
    assert session.snapshot().unpriced_calls == 1
    assert session.snapshot().last_call_usage is not None


def test_a_block_of_unknown_prices_has_no_rate(store: str) -> None:
    group = Costs(name="b", calls=2, unpriced=2, begun=now() - 60_000, ended=now())
    assert hourly(group) == "unknown*"
    assert (rates(group)["usd_per_hour"], rates(group)["projected_usd"]) == (None, None)
    assert "$" not in running([group])
    some = replace(group, unpriced=1, cost=5_000_000_000)
    assert hourly(some).endswith("*")
    assert running([some]).count("*") == 2


def test_a_session_whose_program_recorded_no_times_has_no_length() -> None:
    shot = BudgetSnapshot(
        context_window_size=0, used_tokens=0, used_percentage=0, remaining_tokens=0, lines_added=3
    )
    assert worked(shot) == "3 lines added, 0 removed"


def test_what_no_call_was_recorded_of_has_no_cost(store: str, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    imported(store, tmp_path, told)
    (group,) = values("stats", "--by", "agent")
    assert (group["calls"], group["cost_usd"]) == (0, None)
    row = next(one for one in run("stats", "--by", "agent").stdout.splitlines() if "claude" in one)
    assert "0.00" not in row
    assert "–" in row
