"""Whoever writes the summaries of an agent: the models themselves, asked on the side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.agent.model_choice import whom
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import codec
from holdfast.model.reply import Reply
from holdfast.ports import Provider


class Voice:
    """Answers a question by asking the model it names; connections are kept until it is closed."""

    def __init__(self, reach: Callable[[str], Provider] | None = None) -> None:
        """`reach` opens whoever answers for a model; otherwise it is found by the model's name."""
        self._reach = reach or _by_name
        self._open: dict[str, Provider] = {}

    def __call__(self, question: Any) -> Reply:
        """The reply to a question."""
        provider = self._provider(question.model)
        request = question.request(provider.format, stream=True)
        decoder = codec(provider.format).decoder()
        flow = drive(provider.begin(request))
        try:
            while data := drive(flow.read()):
                decoder.feed(data)
        finally:
            drive(flow.close())
        return decoder.close()

    def _provider(self, model: str) -> Provider:
        if model not in self._open:
            self._open[model] = self._reach(model)
        return self._open[model]

    def close(self) -> None:
        """Let go of the connections."""
        for provider in self._open.values():
            provider.close()
        self._open = {}


def _by_name(model: str) -> Provider:
    return whom(model).open()
