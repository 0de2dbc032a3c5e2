"""Answers to questions: only exact words count, so that no sentence is taken for a yes.

An answer is a line of its own and ends with Enter; what is none of the answers is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

YES_OR_NO: Mapping[str, bool] = {"y": True, "yes": True, "n": False, "no": False}

YES_OR_SILENCE: Mapping[str, bool] = {**YES_OR_NO, "": False}
"""For a question that says what Enter alone means: no."""


def exact(text: str, answers: Mapping[str, T]) -> T | None:
    """What a line answers; None where it is none of the answers, however it begins."""
    return answers.get(text.strip().lower()) if text.isascii() else None


def offered(answers: Mapping[str, T]) -> str:
    """What to type, for whoever typed something else: one word for each answer."""
    words: dict[T, str] = {}
    for word, meaning in answers.items():
        words.setdefault(meaning, word)
    *others, last = words.values()
    return f"{', '.join(others)} or {last}, then Enter"
