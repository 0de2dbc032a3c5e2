"""A session in which nothing was asked can be looked at, but makes no request."""

from typing import Any

import pytest

from holdfast.errors import InvalidRequest
from holdfast.model.log import Summary
from holdfast.model.span import Span
from tests.engine.test_window import REPLIES
from tests.properties.histories import opened

TOLD: dict[str, Any] = {"system": "Be brief.", "instructions": "Use tabs."}


def test_it_says_what_to_do_first_and_can_still_be_looked_at() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        for made in (s.window(**TOLD), s.preview(**TOLD)):
            assert made.tokens > 0
            for format in REPLIES:
                with pytest.raises(InvalidRequest, match=r"s\.user"):
                    made.request(format)
        assert s.explain_now().lines
        s.user("hi")
        assert s.window(**TOLD).request("anthropic")


def test_a_summary_stands_for_what_was_asked_and_a_rewind_takes_it_away() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="m")
        s.user("hi")
        s.append(Summary(covers=(Span(1, 1),), text="so far"))
        assert s.window().request("anthropic")
        s = hf.session(model="m")
        s.user("hi")
        s.rewind(0)
        with pytest.raises(InvalidRequest, match="nothing was asked"):
            s.window().request("anthropic")
