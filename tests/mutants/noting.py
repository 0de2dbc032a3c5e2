"""A plugin for pytest that notes what each passing test reached, and the processor time it took."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

ONES = bytes([48, *[49] * 255])
"""Turns a byte for each place into the digits of a binary number."""

failed: set[str] = set()


def pytest_sessionstart() -> None:
    """A few examples show where a property reaches."""
    house = hypothesis.settings.get_profile("house")
    hypothesis.settings.register_profile("noting", house, max_examples=10, database=None)
    hypothesis.settings.load_profile("noting")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.outcome != "passed":
        failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    from holdfast._hits import HITS  # pyright: ignore

    HITS[:] = bytes(len(HITS))
    began = sum(os.times()[:4])
    done = yield
    seconds = sum(os.times()[:4]) - began
    number = int(bytes(HITS).translate(ONES)[::-1], 2)
    if item.nodeid not in failed:
        packed = base64.b85encode(zlib.compress(number.to_bytes(len(HITS) // 8 + 1, "little")))
        line = json.dumps([item.nodeid, round(seconds, 4), packed.decode()])
        with Path(os.environ["HOLDFAST_REACHED"]).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    return done
