"""Another model goes on: the log says so, and the new model is told, once."""

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.agent.model_choice import led
from holdfast.engine.client import Session
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import AssumedModel, OverBudget
from holdfast.model.log import Switch
from holdfast.model.message import Text, assistant
from holdfast.model.window import SectionName
from tests.engine.test_window import REPLIES, REPLY
from tests.properties.histories import FORMATS, opened

TAG = "<model_switch>"


def begun(s: Session) -> Session:
    s.user("one")
    s.window(model="first").request("anthropic")
    s.reply(REPLY)
    s.user("two")
    return s


def switches(s: Session) -> list[str]:
    return [entry.body.model for entry in s.entries() if isinstance(entry.body, Switch)]


def told(made: PreparedWindow) -> list[str]:
    texts = [part.text for b in made.blocks for part in b.parts if isinstance(part, Text)]
    return [text for text in texts if text.startswith(TAG)]


@pytest.mark.seed("004", 51)
def test_the_new_model_is_told_once_and_at_the_tail() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        assert switches(s) == []
        before = s.window().blocks
        (words,) = told(s.window(model="second"))
        assert "first" in words
        assert "second" in words
        assert switches(s) == ["second"]
        made = s.window(model="second")
        assert len(told(made)) == 1
        assert made.blocks[: len(before)] == before
        assert made.blocks[-1].role == "developer"
        assert made.blocks[len(before) - 1].rule == "just asked"
        assert switches(s) == ["second"]
        s.reply({**REPLY, "id": "msg_2"})
        s.user("three")
        assert len(told(s.window(model="second"))) == 1
        assert len(told(s.window())) == 2  # back to the session's own
        assert switches(s) == ["second", "first"]


@pytest.mark.seed("001", 46)
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_it_and_it_can_be_explained(format: str) -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        request = s.window(model="claude-sonnet-4-6").request(format)
        assert TAG in json.dumps(request)
        assert s.explain_now().model == "claude-sonnet-4-6"
        assert s.explain(s.reply({**REPLIES[format], "id": "msg_2"}).id).matches
        assert s.explain_now().model == "claude-sonnet-4-6"


def test_nothing_is_told_before_any_model_has_answered() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="first")
        s.user("one")
        assert told(s.window(model="second")) == []
        assert switches(s) == ["second"]
        other = hf.session()
        other.user("one")
        assert told(other.window(model="second")) == []
        other.append(assistant("fine"))
        other.user("two")
        assert len(told(other.window(model="third"))) == 1


def test_a_preview_shows_it_and_writes_nothing() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        head = s.refresh().head
        shown = s.preview(model="second")
        assert len(told(shown)) == 1
        assert s.refresh().head == head
        made = s.window(model="second")
        assert [b.parts for b in made.blocks] == [b.parts for b in shown.blocks]
        assert made.tokens == shown.tokens


def test_a_window_that_cannot_be_made_leaves_no_switch(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("one")
        s.append(assistant("fine"))
        s.user("word " * 60_000)
        s.window()
        head = s.refresh().head
        with pytest.warns(AssumedModel), pytest.raises(OverBudget):
            s.window(model="sonet")
        assert s.refresh().head == head


def test_a_rewind_never_parts_what_was_told_from_its_marker() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        s.window(model="second")
        message = s.refresh().head - 1
        s.rewind(message)
        s.user("again")
        assert len(told(s.window(model="second"))) == 1
        s.rewind(1)
        s.user("anew")
        assert switches(s) == ["second"]


def test_a_change_of_policy_is_no_change_of_model() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        s.window(model="second")
        s.append(Switch(policy="aider"))
        assert len(told(s.window(model="second"))) == 1
        assert len(told(s.window(model="first"))) == 2


def test_a_fork_and_a_second_writer_know_who_leads() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        s.window(model="second")
        for other in (hf.session(s.id), s.fork()):
            assert len(told(other.window(model="second"))) == 1
            assert switches(other) == ["second"]


def test_who_is_asked_for_goes_on_and_is_told_so_at_the_next_turn() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        s.set_model("second")
        assert s.info.model == "second"
        assert led(hf.session(s.id)) == "second"
        assert s.explain_now().model == "second"
        (words,) = told(s.window(model="second"))
        assert "So far first has led" in words
        s.set_model("second")
        assert switches(s) == ["first", "second"]


def test_who_is_asked_for_and_taken_back_leaves_nothing_to_tell() -> None:
    with opened(200_000) as hf:
        s = begun(hf.session(model="first"))
        s.set_model("second")
        s.set_model("first")
        assert told(s.window(model="first")) == []
        fresh = hf.session(model="first")
        fresh.set_model("second")
        assert (fresh.info.head, led(fresh)) == (0, "second")


def test_what_was_made_for_a_larger_window_gives_way_to_what_is_made_for_this_one() -> None:
    large = "".join(f"file {n}: what it holds\n" for n in range(5_000))
    with holdfast.open("memory:") as hf:
        s = hf.session(model="gpt-5")
        s.user("one")
        s.window(sources=[Outline(large)]).request("anthropic")
        s.reply(REPLY)
        s.user("two")
        assert s.window(sources=[Outline(large)]).sections["repo_map"] > 10_000
        made = s.window(model="smollm2-135m", sources=[Outline(large)])
        assert made.over == 0
        assert made.sections["repo_map"] < 2_500
        made.request("openai-chat")
        s.reply(REPLIES["openai-chat"])
        assert s.explain().matches


class Outline:
    name = "outline"
    section: SectionName = "repo_map"

    def __init__(self, text: str) -> None:
        self._text = text

    async def text(self, allowance: int) -> str:
        return self._text
