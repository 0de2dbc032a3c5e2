"""From a window to the request: contents in order, and the configuration beside them.

Rule 1: leading system and developer blocks are the system instruction; later ones are said by the
        user inside `<system-reminder>`, for the format knows the roles user and model only.
Rule 2: answers of tools make a turn of their own, right behind the turn that called, in the order
        of the calls; whatever else was said before the last of them follows in the next turn.
Rule 3: turns of the model that follow one another are one turn, since a turn that calls functions
        must come behind one of the user.
Rule 4: on models that sign, the first call of a reply that lacks a signature gets the stand-in, in
        old turns too: a turn then reads the same for ever, and stays cached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.codecs.gemini.config import config_of
from holdfast.codecs.gemini.names import SKIP, signs
from holdfast.codecs.gemini.parts import Encoded, Parts
from holdfast.model.message import Text, ToolCall, ToolResult
from holdfast.model.window import Block, Options, Window

TOP = ("model", "contents")


def request_of(window: Window, options: Options) -> dict[str, Any]:
    """The keyword arguments of `client.models.generate_content`."""
    head = _head(window.blocks)
    turns = Turns(Parts(window.model))
    for block in window.blocks[head:]:
        turns.add(block)
    request: dict[str, Any] = {
        "model": window.model,
        "contents": turns.contents(),
        "config": config_of(window, options, [*_instructions(window.blocks[:head])]),
    }
    return request | {name: options.extra[name] for name in TOP if name in options.extra}


def _head(blocks: Sequence[Block]) -> int:
    """How many blocks the system instruction is made of."""
    for index, block in enumerate(blocks):
        if block.role not in ("system", "developer"):
            return index
    return len(blocks)


def _instructions(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        for part in block.parts:
            if text := getattr(part, "text", ""):
                yield text


class Turns:
    """The contents while they are written."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._turns: list[dict[str, Any]] = []
        self._calls: dict[str, tuple[int, str]] = {}
        """Every call so far: its place among all calls, and the function's name."""
        self._open: set[str] = set()
        """Calls of the newest turn that wait for their answers."""
        self._answers: list[tuple[int, Encoded]] = []
        """Answers to the turn before, waiting for their fellows."""
        self._beside: list[Encoded] = []
        """What came with the answers and has no room in them."""

    def add(self, block: Block) -> None:
        """Write a block behind the others."""
        if block.role == "assistant":
            self._settle()
            self._model(block)
            return
        for part in block.parts:
            if isinstance(part, ToolResult):
                self._answer(part, block)
        said = list(self._said(block))
        if block.role == "tool" or self._open:
            self._beside += said
        else:
            self._settle()
            self._turn("user", said)

    def contents(self) -> list[dict[str, Any]]:
        """Every turn."""
        self._settle()
        return self._turns

    def _model(self, block: Block) -> None:
        for part in block.parts:
            if isinstance(part, ToolCall):
                self._calls[part.id] = (len(self._calls), part.name)
                self._open.add(part.id)
        written = [*self._parts.of(block, block.parts)]
        if all(part.get("thought") and "thought_signature" not in part for part in written):
            return  # thoughts alone say nothing, and nothing at all is no turn
        if signs(self._parts.model):
            _stand_in(written)
        if self._turns and self._turns[-1]["role"] == "model":
            self._turns[-1]["parts"] += written
        else:
            self._turn("model", written)

    def _answer(self, result: ToolResult, block: Block) -> None:
        place, name = self._calls.get(result.call, (len(self._calls), result.name))
        answer, beside = self._parts.answer(result, name or result.name, block)
        self._open.discard(result.call)
        self._answers.append((place, answer))
        self._beside += beside

    def _said(self, block: Block) -> Iterator[Encoded]:
        for part in self._parts.of(block, block.parts):
            if block.role in ("system", "developer") and "text" in part:
                part = {"text": _reminder(part["text"], block)}
            yield part

    def _settle(self) -> None:
        """Write the answers that have waited, in the order of their calls."""
        answers = sorted(self._answers, key=lambda answer: answer[0])
        beside, self._answers, self._beside = self._beside, [], []
        self._open.clear()
        self._turn("user", [part for _, part in answers])
        self._turn("user", beside)

    def _turn(self, role: str, parts: list[Encoded]) -> None:
        if parts:
            self._turns.append({"role": role, "parts": parts})


def _stand_in(parts: list[Encoded]) -> None:
    """Sign the first call; a signature on a part before it is the call's as well (rule G4)."""
    for part in parts:
        if "thought_signature" in part:
            return
        if "function_call" in part:
            part["thought_signature"] = SKIP
            return


def _reminder(text: str, block: Block) -> str:
    scaffolds = {part.scaffold for part in block.parts if isinstance(part, Text)}
    if any(tag and text.startswith(f"<{tag}") for tag in scaffolds):
        return text
    return f"<system-reminder>\n{text}\n</system-reminder>"
