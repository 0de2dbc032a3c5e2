"""A call's arguments that come in pieces: text goes on, all else takes the place."""

import json
import time

from holdfast.codecs.gemini.partial import Arguments


def test_text_goes_on_and_any_other_value_takes_the_place() -> None:
    found = Arguments()
    for path, name, value in (
        ("$.a", "stringValue", "one "), ("$.b", "numberValue", 1), ("$.a", "stringValue", "two"),
        ("$.b", "stringValue", "x"), ("$.c", "stringValue", "gone"), ("$.c", "boolValue", True),
        ("$.d[0].e", "stringValue", "deep"),
    ):  # fmt: skip
        found.add({"jsonPath": path, name: value})
    assert json.loads(found.text) == {"a": "one two", "b": "x", "c": True, "d": [{"e": "deep"}]}


def test_a_text_in_many_pieces_takes_time_linear_in_its_length() -> None:
    def seconds(count: int) -> float:
        found, start = Arguments(), time.process_time()
        for _ in range(count):
            found.add({"jsonPath": "$.a", "stringValue": "x" * 1_000})
        assert len(json.loads(found.text)["a"]) == count * 1_000
        return time.process_time() - start

    seconds(100)
    assert seconds(20_000) < 10 * seconds(5_000) + 0.2  # quadratic time would be sixteen times that
