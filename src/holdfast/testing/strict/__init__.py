"""A strict server for tests: plays the providers over HTTP and refuses what they refuse."""

from holdfast.testing.strict.script import Answer, Ask, Asked, Compact, Say, Think, answer, in_order
from holdfast.testing.strict.server import StrictServer

__all__ = [
    "Answer",
    "Ask",
    "Asked",
    "Compact",
    "Say",
    "StrictServer",
    "Think",
    "answer",
    "in_order",
]
