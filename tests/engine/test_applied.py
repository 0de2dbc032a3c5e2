"""What a provider does to the context by itself becomes markers, and its block goes home only."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.calls.send import send
from holdfast.engine.client import Holdfast
from holdfast.engine.plugins import provider
from holdfast.model.log import Clear, Entry, Summary
from holdfast.model.message import Message, Opaque, Reasoning, ToolCall
from holdfast.model.reply import Edit, Iteration, Usage
from holdfast.model.span import Span
from holdfast.policies import policy
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, Asked, Compact, Think, answer
from holdfast.testing.strict.anthropic_context import read

CLAUDE, GPT = "claude-sonnet-4-6", "gpt-5"
WORDS = "The user collects tide tables. Port Ellen and Oban are done, Mallaig is next."
TOOLS = [{"name": "look", "description": "Look.", "input_schema": {"type": "object"}}]
CLEARS = "clear_tool_uses_20250919"


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "log.db") as opened:
        yield opened


def session(hf: Holdfast, model: str) -> Any:
    made = hf.session(model=model, policy="claude-code@seed")
    return made._inner  # type: ignore[reportPrivateUsage]


def spoken(s: Any, server: StrictServer, format: str, **asking: Any) -> Entry:
    name = "anthropic" if format == "anthropic" else "openai"
    with closing(provider(name, format, key="sk-test", url=server.url(name))) as to:
        return drive(send(s, s.turns, to, None, **asking))


def told(s: Any, turns: int) -> None:
    """Some turns about tides, each with a tool."""
    for n in range(turns):
        drive(s.user(f"what of port {n}?"))
        call = ToolCall(f"c{n}", "look", f'{{"port":{n}}}')
        drive(s.append(holdfast.assistant("looking", call), provider="openai", model=GPT))
        drive(s.tool_result(f"c{n}", f"tide {n}: high water at {n}", name="look"))
        drive(s.append(holdfast.assistant(f"port {n} is done")))


def markers(s: Any, kind: type) -> list[Any]:
    found = drive(s.store.log.markers(s.id, before=2**62, limit=99))
    return [entry for entry in found if isinstance(entry.body, kind)]


def text(asked: Asked) -> str:
    return str(asked.body)


COMPACTS = {
    "anthropic": (CLAUDE, "claude-opus-4-6"),
    "openai-responses": (GPT, "gpt-4o"),
}


@pytest.mark.parametrize("format", COMPACTS)
def test_a_compaction_stands_for_what_was_sent_and_goes_back_first(
    hf: Holdfast, format: str
) -> None:
    answers = iter([answer(Compact(WORDS), "Mallaig, then."), answer("At noon."), answer("Yes.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, COMPACTS[format][0])
        told(s, 2)
        drive(s.user("and Mallaig?"))
        first = spoken(s, server, format, system="You know tides.")
        (marker,) = markers(s, Summary)
        assert (marker.body.trigger, marker.body.step) == ("server", "server")
        assert [(span.first, span.last) for span in marker.body.covers] == [(1, first.seq - 1)]
        assert marker.body.sealed in first.body.parts  # type: ignore[union-attr]
        drive(s.user("when?"))
        spoken(s, server, format, system="You know tides.")
        assert not server.refused
        assert "port 0 is done" not in text(server.asked[1])
        assert "port 0 is done" in text(server.asked[0])
        assert "Mallaig, then." in text(server.asked[1])
        assert "'type': 'compaction'" in text(server.asked[1])


@pytest.mark.parametrize("format", COMPACTS)
def test_another_model_reads_words_in_its_place(hf: Holdfast, format: str) -> None:
    answers = iter([answer(Compact(WORDS), "Mallaig, then."), answer("At noon.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, COMPACTS[format][0])
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, format)
        drive(s.user("when?"))
        spoken(s, server, format, model=COMPACTS[format][1])
        assert not server.refused
        assert "'type': 'compaction'" not in text(server.asked[1])
        assert "encrypted_content': 'gAAAA" not in text(server.asked[1])
        known = "Oban are done" if format == "anthropic" else "what of port 1?"
        assert known in text(server.asked[1])


def test_every_other_format_reads_words_in_its_place(hf: Holdfast) -> None:
    with StrictServer(answer(Compact(WORDS), "Mallaig, then.")) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        drive(s.user("when?"))
        for format in ("openai-responses", "openai-chat", "gemini"):
            sent = str(drive(s.window(model=CLAUDE)).request(format))
            assert "Oban are done" in sent
            assert "compaction" not in sent


@pytest.mark.parametrize("format", COMPACTS)
def test_undo_brings_all_back_and_the_block_is_not_sent(hf: Holdfast, format: str) -> None:
    answers = iter([answer(Compact(WORDS), "Mallaig, then."), answer("At noon.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, COMPACTS[format][0])
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, format)
        drive(s.undo())
        drive(s.user("when?"))
        spoken(s, server, format)
        sent = text(server.asked[1])
        assert not server.refused
        assert "port 0 is done" in sent
        assert "'type': 'compaction'" not in sent
        assert "compact_20260112" not in sent
        assert "compact_threshold" not in sent
        drive(s.redo())
        drive(s.user("sure?"))
        assert "port 0 is done" not in str(drive(s.window()).request(format))


def test_what_is_being_worked_on_stays_word_for_word(hf: Holdfast) -> None:
    answers = iter([answer(Compact(WORDS), Ask("look", {"port": 9})), answer("At noon.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig, on Tuesday?"))
        first = spoken(s, server, "anthropic", tools=TOOLS)
        (call,) = first.body.calls  # type: ignore[union-attr]
        drive(s.tool_result(call.id, "high water at 12", name="look"))
        spoken(s, server, "anthropic", tools=TOOLS)
        assert not server.refused
        shown = read(server.asked[1].body)
        assert shown[0]["type"] == "compaction"
        assert "and Mallaig, on Tuesday?" in str(shown)
        assert "what of port 1?" not in str(shown)


def test_pins_and_surroundings_are_read_behind_the_block(hf: Holdfast) -> None:
    answers = iter([answer(Compact(WORDS), "Mallaig, then."), answer("At noon.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.pin(fact="never sail at night"))
        drive(s.user("and Mallaig?"))
        around = {"system": "You know tides.", "instructions": "Say it in metres."}
        spoken(s, server, "anthropic", **around)
        drive(s.user("when?"))
        spoken(s, server, "anthropic", **around)
        assert not server.refused
        shown = str(read(server.asked[1].body))
        assert "never sail at night" in shown
        assert "Say it in metres." in shown or "Say it in metres." in str(
            server.asked[1].body["system"]
        )


@pytest.mark.seed("000", 164)
def test_a_pause_for_compaction_goes_on_by_itself_once(hf: Holdfast) -> None:
    paused = answer(Compact(WORDS), stop="compaction")
    answers = iter([paused, answer("Mallaig at noon.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig?"))
        entry = spoken(s, server, "anthropic")
        assert entry.body.text == "Mallaig at noon."  # type: ignore[union-attr]
        assert not server.refused
        shown = read(server.asked[1].body)
        assert [block["type"] for block in shown] == ["compaction", "text"]
        assert "and Mallaig?" in str(shown[1])


@pytest.mark.seed("000", 133)
def test_behind_a_pause_the_newest_messages_stay_word_for_word(hf: Holdfast) -> None:
    paused = answer(Compact(WORDS), stop="compaction")
    answers = iter([paused, answer("Mallaig at noon.")])
    seed = policy("claude-code@seed")
    assert seed.compact
    own = replace(seed, name="own", compact=replace(seed.compact, pause=True, keeps=3))
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 3)
        drive(s.set_policy(own))
        drive(s.user("and Mallaig?"))
        said = ["tide 2: high water at 2", "port 2 is done", "and Mallaig?"]
        spoken(s, server, "anthropic")
        edits = server.asked[0].body["context_management"]["edits"]
        assert edits[-1]["pause_after_compaction"] is True
        shown = read(server.asked[1].body)
        assert shown[0]["type"] == "compaction"
        words = str(shown[1:])
        assert all(one in words for one in said)
        assert "tide 1" not in words
        assert not server.refused


def test_a_provider_that_only_ever_pauses_is_asked_twice(hf: Holdfast) -> None:
    with StrictServer(answer(Compact(WORDS), stop="compaction")) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        assert len(server.asked) == 2
        assert not server.refused


def test_a_compaction_that_failed_changes_nothing(hf: Holdfast) -> None:
    answers = iter([answer(Compact(""), "Mallaig, then."), answer("At noon.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        assert markers(s, Summary) == []
        drive(s.user("when?"))
        spoken(s, server, "anthropic")
        assert not server.refused
        assert "port 0 is done" in text(server.asked[1])


def test_the_second_compaction_takes_the_place_of_the_first(hf: Holdfast) -> None:
    more = WORDS + " Mallaig is done as well."
    answers = iter([answer(Compact(WORDS), "One."), answer(Compact(more), "Two."), answer("3.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        for words in ("and Mallaig?", "and now?", "and then?"):
            drive(s.user(words))
            spoken(s, server, "anthropic")
        assert not server.refused
        blocks = [b for b in read(server.asked[2].body) if b["type"] == "compaction"]
        assert [block["content"] for block in blocks] == [more]
        assert text(server.asked[2]).count("'type': 'compaction'") == 1
        first, second = markers(s, Summary)
        assert second.body.merges == (first.seq,)


def test_words_that_the_ledger_speaks_against_go_home_only(hf: Holdfast) -> None:
    wrong = "All done: the file src/tides/mallaig_v7.py was written and every test passed."
    answers = iter([answer(Compact(wrong), "Fine."), answer("Yes.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        (marker,) = markers(s, Summary)
        assert "mallaig_v7" not in marker.body.text
        assert "refused" in marker.body.reason
        drive(s.user("sure?"))
        spoken(s, server, "anthropic")
        assert "mallaig_v7" in str(read(server.asked[1].body))
        assert not server.refused


def test_nothing_is_marked_where_another_marker_came_meanwhile(hf: Holdfast) -> None:
    s = session(hf, CLAUDE)

    def script(asked: Asked) -> Any:
        drive(hf.session(s.id)._inner.pin(fact="sail by day"))  # type: ignore[reportPrivateUsage]
        return answer(Compact(WORDS), "Mallaig, then.")

    with StrictServer(script) as server:
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        assert markers(s, Summary) == []
        drive(s.user("when?"))
        assert "port 0 is done" in str(drive(s.window()).request("anthropic"))


def test_results_that_were_cleared_are_cleared_here_the_oldest_first(hf: Holdfast) -> None:
    edit = Edit(type=CLEARS, cleared_tool_uses=2, cleared_tokens=90)
    answers = iter([answer("One.", edits=(edit,)), answer("Two.")])
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        told(s, 5)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        (marker,) = markers(s, Clear)
        assert (marker.body.trigger, marker.body.step) == ("server", "server")
        assert "by itself" in marker.body.reason
        assert [ref.seq for ref in marker.body.parts] == [3, 7]
        drive(s.user("when?"))
        spoken(s, server, "anthropic")
        sent = text(server.asked[1])
        assert not server.refused
        assert "high water at 1'" not in sent
        assert "high water at 2" in sent
        assert "recall prt_" in sent
        drive(s.undo())
        again = str(drive(s.window()).request("anthropic"))
        assert "high water at 0" in again
        assert CLEARS not in again


@pytest.mark.seed("000", 136)
def test_tools_that_were_to_be_spared_are(hf: Holdfast) -> None:
    s = session(hf, CLAUDE)
    told(s, 2)
    drive(s.user("read it"))
    drive(s.append(holdfast.assistant(ToolCall("m", "memory", "{}"))))
    drive(s.tool_result("m", "remember the moon", name="memory"))
    drive(s.append(holdfast.assistant("read")))
    drive(s.user("and?"))
    asked = {"edits": [{"type": CLEARS, "exclude_tools": ["look"]}]}
    drive(s.window()).request("anthropic", server_edits=asked)
    edit = {"type": CLEARS, "cleared_tool_uses": 3, "cleared_input_tokens": 9}
    drive(s.reply({
        "type": "message", "model": CLAUDE, "content": [{"type": "text", "text": "Two."}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 1},
        "context_management": {"applied_edits": [edit]},
    }))  # fmt: skip
    assert markers(s, Clear) == []  # the newest result is never taken for cleared


def test_thoughts_of_finished_turns_are_cleared_turn_by_turn(hf: Holdfast) -> None:
    edit = Edit(type="clear_thinking_20251015", cleared_thinking_turns=1, cleared_tokens=9)
    answers = iter([
        answer(Think("first thought"), "One."), answer(Think("second thought"), "Two."),
        answer(Think("third thought"), "Three.", edits=(edit,)), answer("Four."),
    ])  # fmt: skip
    with StrictServer(lambda asked: next(answers)) as server:
        s = session(hf, CLAUDE)
        for n in range(4):
            drive(s.user(f"question {n}"))
            with closing(
                provider("anthropic", "anthropic", key="sk-test", url=server.url("anthropic"))
            ) as to:
                drive(send(s, s.turns, to, None, {"thinking": 2_000}))
        assert not server.refused
        assert "first thought" in text(server.asked[2])
        assert "first thought" not in text(server.asked[3])
        assert "second thought" in text(server.asked[3])
        (marker,) = markers(s, Clear)
        (cleared,) = marker.body.parts
        entry = drive(s.store.log.read(s.id, (Span(cleared.seq, cleared.seq),)))[0]
        assert isinstance(entry.body.parts[cleared.ordinal], Reasoning)


def test_each_sampling_is_counted_and_paid_for_by_its_own_size(hf: Holdfast) -> None:
    each = (
        Iteration(type="compaction", cache_read=150_000, input=5_000, output=900),
        Iteration(type="message", input=60_000, output=25, cache_write=70, cache_write_long=70),
    )
    with StrictServer(answer(Compact(WORDS), "Mallaig, then.", iterations=each)) as server:
        s = session(hf, CLAUDE)
        told(s, 2)
        drive(s.user("and Mallaig?"))
        spoken(s, server, "anthropic")
        (call,) = drive(s.store.calls.newest(s.id))
        assert call.usage == sum(each, Usage())
        assert call.iterations == each
        assert call.last == each[1]
        price = hf.catalogue.profile(CLAUDE).prices[0]
        due = 65_000 * price.input + 150_000 * price.cache_read + 925 * price.output
        due += 70 * price.cache_write_long
        assert call.cost == round(due / 1_000_000)
        assert call.price_version
        status = drive(s.status())
        assert status["context_window"]["current_usage"]["input_tokens"] == 60_000


@pytest.mark.seed("000", 143, 201)
def test_the_log_keeps_the_block_and_the_words_as_they_came(hf: Holdfast) -> None:
    with StrictServer(answer(Compact(WORDS), "Mallaig, then.")) as server:
        s = session(hf, CLAUDE)
        told(s, 1)
        drive(s.user("and Mallaig?"))
        entry = spoken(s, server, "anthropic")
        assert isinstance(entry.body, Message)
        kinds = [type(part).__name__ for part in entry.body.parts]
        assert kinds == ["Opaque", "SummaryText", "Text"]
        assert isinstance(entry.body.parts[0], Opaque)
        assert entry.body.parts[0].intact


def test_what_says_nothing_besides_its_facts_is_marked_all_the_same(hf: Holdfast) -> None:
    with StrictServer(answer(Compact("The file src/none/v7.py was written."), "Yes.")) as server:
        s = session(hf, CLAUDE)
        drive(s.user("Which port is next?"))
        spoken(s, server, "anthropic")
        (marker,) = markers(s, Summary)
        assert "Which port is next?" in marker.body.ledger
        assert marker.body.text
