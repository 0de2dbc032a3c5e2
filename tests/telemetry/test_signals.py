"""Traces, the metrics of the GenAI conventions, logs, compactions and limits."""

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import StatusCode

import holdfast
from holdfast.telemetry import names
from tests.telemetry.listening import Listening
from tests.telemetry.playing import play


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Listening:
    path = tmp_path_factory.mktemp("day")
    listening = Listening()
    with holdfast.open(path / "log.db", telemetry=listening.emitter) as hf:
        play(hf, path / "work")
    return listening


REPLY = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": "ho"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


def of(span: Any) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_turn_has_its_calls_and_tools_beneath_it(heard: Listening) -> None:
    (turn,) = heard.spans("invoke_agent")
    beneath = [one for one in heard.spans() if one.parent and turn.context
               and one.parent.span_id == turn.context.span_id]  # fmt: skip
    called = [one.name for one in beneath]
    assert called.count("chat claude-sonnet-4-6") == 8
    assert called.count("execute_tool shell") == 3
    assert called.count("execute_tool edit") == 1  # the other one was refused
    assert all(turn.start_time <= one.start_time <= one.end_time <= turn.end_time  # type: ignore[operator]
               for one in beneath)  # fmt: skip


def test_a_call_says_what_it_used(heard: Listening) -> None:
    call = of(heard.spans("chat")[0])
    assert call["gen_ai.provider.name"] == "anthropic"
    assert call["gen_ai.usage.input_tokens"] == 1_250  # the cached ones are a part of it
    assert call["gen_ai.usage.cache_read.input_tokens"] == 200
    assert call["gen_ai.usage.output_tokens"] == 100
    assert call["gen_ai.response.finish_reasons"] == ("tools",)


def test_what_failed_says_how_and_no_more(heard: Listening) -> None:
    failed = [one for one in heard.spans() if one.status.status_code is StatusCode.ERROR]
    assert [of(one)["error.type"] for one in failed if one.name.startswith("chat")] == ["AuthError"]
    shells = [one for one in failed if one.name == "execute_tool shell"]
    assert [of(one)["error.type"] for one in shells] == ["tool_error"]
    (record,) = heard.records("holdfast.api_error")
    assert record["error_type"] == "AuthError"
    assert record["status_code"] == 401


def test_the_conventions_metrics_have_the_buckets_they_ask_for(heard: Listening) -> None:
    by = {"gen_ai__provider__name": "anthropic", "gen_ai__operation__name": "chat"}
    assert heard.total(names.TOKEN_USAGE, gen_ai__token__type="input", **by) == 8 * 1_250
    assert heard.total(names.TOKEN_USAGE, gen_ai__token__type="output", **by) == 8 * 100
    point = heard.metrics()[names.TOKEN_USAGE][0]
    assert point.explicit_bounds[:3] == (1, 4, 16)
    assert point.explicit_bounds[-1] == 67_108_864
    duration = heard.metrics()[names.DURATION][0]
    assert duration.explicit_bounds[0] == 0.01
    assert duration.explicit_bounds[-1] == 81.92


def test_the_first_piece_of_each_reply_is_timed(heard: Listening) -> None:
    (point,) = heard.metrics()[names.FIRST_CHUNK]
    assert point.count == 8
    calls = [
        one
        for one in heard.metrics()[names.DURATION]
        if one.attributes.get("gen_ai.response.model")
    ]
    assert 0 <= point.sum <= sum(one.sum for one in calls)


def test_a_compaction_is_a_span_a_count_and_a_record(heard: Listening) -> None:
    (span,) = heard.spans("compact")
    told = of(span)
    freed = told["holdfast.compaction.tokens_before"] - told["holdfast.compaction.tokens_after"]
    assert told["holdfast.compaction.trigger"] == "manual"
    assert freed > 1_000
    assert heard.total("holdfast.compaction.count", trigger="manual") == 1
    assert heard.total("holdfast.compaction.freed") == freed
    (record,) = heard.records("holdfast.compaction")
    assert record["tokens_before"] == told["holdfast.compaction.tokens_before"]


def test_limits_are_gauges(heard: Listening) -> None:
    by = {"provider": "anthropic", "type": "input_tokens"}
    assert heard.total("holdfast.rate_limit.limit", **by) == 80_000
    assert heard.total("holdfast.rate_limit.remaining", **by) == 4_000
    # Seven calls were over when the eighth was answered; what the cache held is not counted.
    assert heard.total("holdfast.rate_limit.tokens_per_minute", provider="anthropic") == 7 * 1_150


def test_every_call_and_tool_is_a_record(heard: Listening) -> None:
    assert len(heard.records("holdfast.api_request")) == 8 + 1  # one for the summary
    ran = heard.records("holdfast.tool_result")
    assert [one["tool_name"] for one in ran] == [
        "write",
        "edit",
        "shell",
        "shell",
        "shell",
        "other",
    ]
    assert [one["success"] for one in ran] == ["true", "true", "true", "false", "true", "false"]
    assert all(one["tool_input_size_bytes"] > 0 for one in ran if one["tool_name"] != "other")
    assert len(heard.records("holdfast.tool_decision")) == 6, "on what is no tool nobody decides"
    assert [one["start_type"] for one in heard.records("holdfast.session")] == ["fresh", "resume"]


def test_without_a_turn_a_call_stands_beneath_the_span_the_program_is_in(tmp_path: Path) -> None:
    listening = Listening()
    tracer = TracerProvider().get_tracer("theirs")
    with holdfast.open(tmp_path / "log.db", telemetry=listening.emitter) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("hi")
        with tracer.start_as_current_span("their request") as theirs:
            for _ in range(2):
                s.reply(REPLY, key="told twice, and recorded once")
        (call,) = listening.spans("chat")
        assert call.parent
        assert call.parent.span_id == theirs.get_span_context().span_id
