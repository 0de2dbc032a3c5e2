"""An agent in a small window against the strict server: every request of every turn is accepted,
and so is every question for a summary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.engine.calls.ask import Question
from holdfast.engine.client import Session
from holdfast.model.log import Clear, Summary
from holdfast.model.profile import Profile
from holdfast.providers.catalogue import BuiltIn
from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, Say, Think
from tests.codecs.test_strict_switching import Talk
from tests.properties.histories import FORMATS
from tests.properties.ladders import POLICIES, Models, engine

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai-responses": "gpt-5.2",
    "openai-chat": "gpt-5.2",
    "gemini": "gemini-3-pro-preview",
}
TOOL = {"name": "read", "description": "read", "input_schema": {"type": "object", "properties": {}}}
TURNS, WINDOW = 8, 8_192
TRIALS = [
    *((name, FORMATS[place % 4]) for place, name in enumerate(POLICIES)),
    *(("holdfast", format) for format in FORMATS),
]


class Real(Models):
    """The real models, in a small window."""

    def profile(self, model: str) -> Profile:
        return replace(BuiltIn().profile(model), window=self.window, output_limit=1_024)


@pytest.fixture(scope="module")
def server() -> Iterator[StrictServer]:
    def script(asked: Asked) -> Answer:
        said = json.dumps(asked.body)
        if "<conversation" in said or not asked.body.get("tools"):
            return Answer(parts=(Say("It was asked to go on, and all of it is done so far."),))
        if said.rstrip("]} \n").endswith("done with it"):
            return Answer(parts=(Think("So."), Say("It is done.")))
        return Answer(parts=(Think("Hm."), Say("Looking."), Ask("read", {"path": "a.py"})))

    with StrictServer(script) as made:
        yield made


class Agent:
    """One session, one server, one format."""

    def __init__(self, s: Session, talk: Talk, format: str) -> None:
        self.s, self.talk, self.format = s, talk, format

    def send(self, request: dict[str, Any]) -> dict[str, Any]:
        status, data = self.talk.send(self.format, request, False)
        assert status == 200, data
        return json.loads(data)

    def turn(self, number: int) -> None:
        """The user asks, the model calls a tool thrice, and answers."""
        self.s.user(f"Question {number}. " + "Please look at it with care. " * 20)
        for step in range(4):
            made = self.s.window(system="Be brief.", tools=[TOOL])
            options = {"thinking": 1_024} if self.format == "anthropic" else {}
            entry = self.s.reply(
                self.send(made.request(self.format, **options)), format=self.format
            )
            calls = entry.body.calls  # type: ignore[union-attr]
            for call in calls:
                told = " done with it" if step == 2 else ""
                self.s.tool_result(call.id, "a line of the file\n" * 60 + told, name=call.name)
            if not calls:
                return


@pytest.mark.parametrize(("name", "format"), TRIALS)
def test_the_strict_server_takes_every_request(
    name: str, format: str, server: StrictServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.properties.ladders.Models", Real)
    talk, asked = Talk(server), []

    def summarise(question: Question) -> Any:
        asked.append(question)
        return Agent.send(agent, question.request(format))

    with engine(WINDOW) as hf, closing(talk.connection):
        s = hf.session(model=MODELS[format], policy=name, summariser=summarise)
        agent = Agent(s, talk, format)
        for number in range(TURNS):
            agent.turn(number)
        made = [entry for entry in s.entries() if isinstance(entry.body, (Summary, Clear))]
        assert server.refused == []
        told = [one for one in made if isinstance(one.body, Summary) and one.body.step != "shed"]
        assert bool(asked) == bool(told)
        assert made or not s.catalogue.policy(name).makes_room
