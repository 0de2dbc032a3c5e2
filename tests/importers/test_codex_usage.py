"""What Codex's calls used: totals that grow, are repeated, begin anew and are copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.client import Holdfast
from holdfast.model.reply import Usage
from tests.importers.looking import bring, calls_of, only
from tests.importers.rollouts import MODEL, THREAD, Rollout, tokens

FORK = "019f5ccd-3d12-7ee2-b82d-f7e03a3a0005"


def talk(thread: str = THREAD, **meta: object) -> Rollout:
    told = Rollout(thread, **meta)
    told.start()
    told.asks("Go.")
    return told


def usages(hf: Holdfast, *ids: str) -> list[Usage]:
    sessions = [hf.session(id) for id in ids] or [only(hf)]
    return [call.usage for session in sessions for call in calls_of(hf, session)]


def test_cached_input_is_told_apart_and_reasoning_is_of_the_output(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = talk()
    told.uses(1_000, 600, 50, 20)
    bring(hf, told.write(tmp_path / "p"))
    (call,) = calls_of(hf, only(hf))
    assert call.usage == Usage(input=400, cache_read=600, output=50, reasoning=20)
    assert (call.model, call.provider, call.outcome) == (MODEL, "openai", "imported")
    assert only(hf).cost > 0


def test_totals_become_what_each_call_added(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.counts([100, 0, 10, 0], None)
    told.counts([300, 80, 25, 0], None)
    bring(hf, told.write(tmp_path / "p"))
    assert usages(hf) == [Usage(input=100, output=10), Usage(input=120, cache_read=80, output=15)]


def test_the_same_total_again_is_no_further_call(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    for _ in range(3):
        told.counts([100, 0, 10, 0], [100, 0, 10, 0])
    told.counts(None, None)
    told.event("token_count", info=None, rate_limits={"primary": {"used_percent": 1.0}})
    bring(hf, told.write(tmp_path / "p"))
    assert usages(hf) == [Usage(input=100, output=10)]


def test_calls_of_one_moment_are_told_apart_by_their_totals(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.uses(100, 0, 10)
    told.uses(100, 0, 10)
    told.records[-1]["timestamp"] = told.records[-2]["timestamp"]
    bring(hf, told.write(tmp_path / "p"))
    assert usages(hf) == [Usage(input=100, output=10)] * 2


def test_where_totals_begin_anew_the_last_call_counts(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.counts([900, 0, 90, 0], [900, 0, 90, 0])
    told.counts([100, 0, 10, 0], [100, 0, 10, 0])
    bring(hf, told.write(tmp_path / "p"))
    assert usages(hf) == [Usage(input=900, output=90), Usage(input=100, output=10)]


def test_without_totals_each_event_is_a_call(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.counts(None, [100, 0, 10, 0])
    told.counts(None, [100, 0, 10, 0])
    bring(hf, told.write(tmp_path / "p"))
    assert usages(hf) == [Usage(input=100, output=10)] * 2


def test_a_call_belongs_to_the_model_of_its_turn(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.uses(100, 0, 10)
    told.start("gpt-5.4-mini")
    told.uses(100, 0, 10)
    bring(hf, told.write(tmp_path / "p"))
    assert [call.model for call in calls_of(hf, only(hf))] == [MODEL, "gpt-5.4-mini"]


def test_a_history_that_was_copied_as_it_was_is_paid_once(hf: Holdfast, tmp_path: Path) -> None:
    first, second = talk(), talk(FORK)
    for told in (first, second):
        told.uses(100, 0, 10)
        told.replies("Gone.")
        told.event("task_complete")
    second.turn("And on?", "On.")
    second.uses(50, 0, 5)
    paths = first.write(tmp_path / "p"), second.write(tmp_path / "p")
    reports = bring(hf, *paths)
    one, two = (report.sessions[0] for report in reports)
    assert (usages(hf, one), usages(hf, two)) == (
        [Usage(input=100, output=10)], [Usage(input=50, output=5)],
    )  # fmt: skip
    fork = hf.session(two).info
    assert (fork.parent, fork.fork) == (one, 2)


@pytest.mark.parametrize(
    "meta",
    [
        {"forked_from_id": THREAD},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}},
    ],
)
def test_what_a_fork_has_copied_was_paid_for_elsewhere(
    hf: Holdfast, tmp_path: Path, meta: dict[str, object]
) -> None:
    """The copy is written in one go, with the time of the copying."""
    told = talk(FORK, **meta)
    told.uses(5_000, 4_000, 400)
    told.uses(6_000, 5_000, 300)
    for record in told.records:
        record["timestamp"] = "2026-01-02T03:00:00.500Z"
    told.replies("On.")
    told.uses(7_000, 6_500, 20)
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert usages(hf, *report.sessions) == [Usage(input=500, cache_read=6_500, output=20)]


def test_a_time_may_be_a_number(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.uses(100, 0, 10)
    told.records[-1]["timestamp"] = 1_767_322_900
    told.uses(100, 0, 10)
    told.records[-1]["timestamp"] = 1_767_322_901_500
    bring(hf, told.write(tmp_path / "p"))
    started = [call.started for call in calls_of(hf, only(hf))]
    assert started == [1_767_322_900_000, 1_767_322_901_500]


def test_an_archived_copy_is_the_same_session(hf: Holdfast, tmp_path: Path) -> None:
    told = talk()
    told.uses(100, 0, 10)
    bring(hf, told.write(tmp_path / "sessions"), told.write(tmp_path / "archived_sessions"))
    assert usages(hf) == [Usage(input=100, output=10)]


def recorded(told: Rollout, number: int, *used: int) -> None:
    told.add("token_usage_record", response_id=f"resp_{number}", usage=tokens(*used))


def test_a_response_with_a_record_of_its_own_is_a_call_and_totals_are_none(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = talk()
    told.uses(100, 0, 10)
    recorded(told, 1, 200, 50, 20, 5)
    told.uses(200, 50, 20, 5)
    recorded(told, 2, 900, 0, 30)  # the provider's own compaction: no total holds it
    told.replies("Done.")
    (report,) = bring(hf, told.write(tmp_path / "p"))
    assert report.problems == ()
    assert usages(hf) == [
        Usage(input=100, output=10),
        Usage(input=150, cache_read=50, output=20, reasoning=5),
        Usage(input=900, output=30),
    ]
    assert [call.request for call in calls_of(hf, only(hf))][1:] == ["resp_1", "resp_2"]


def test_records_that_a_fork_has_copied_were_paid_for_elsewhere(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = talk(FORK, forked_from_id=THREAD)
    told.records[1:] = [one | {"timestamp": "2026-01-02T03:00:00.500Z"} for one in told.records[1:]]
    recorded(told, 1, 200, 0, 20)
    told.records[-1]["timestamp"] = "2026-01-02T03:00:01.000Z"
    told.replies("Done.")
    recorded(told, 2, 300, 0, 30)
    bring(hf, told.write(tmp_path / "p"))
    assert usages(hf) == [Usage(input=300, output=30)]


def test_calls_are_priced_as_the_thread_s_settings_have_them_served(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = talk()
    told.uses(1_000, 0, 50)
    for tier in ("fast", "flex", "default"):
        told.event("thread_settings_applied", thread_settings={"service_tier": tier})
        told.uses(1_000, 0, 50)
    bring(hf, told.write(tmp_path / "p"))
    usual, fast, flex, again = (call.cost for call in calls_of(hf, only(hf)))
    assert usual
    assert (fast, flex, again) == (usual * 2, usual // 2, usual)
