"""Limits are read out of the errors that providers and local runners really send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.calls.refusals import limit_in

LEAST = 256
MOST = 100_000_000
"""What is promised, in numbers: these tests stand at its edges."""

SAID = {
    "This model's maximum context length is 8192 tokens. However, you requested 10242 tokens": 8192,
    "This model's maximum context length is 128,000 tokens, however you requested 130,000": 128000,
    "prompt is too long: 213456 tokens > 200000 maximum": 200000,
    "input length and `max_tokens` exceed context limit: 195000 + 20000 > 200000, decrease": 200000,
    "The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).": (
        1048576
    ),
    "The input token count (1200345) exceeds the maximum number of tokens allowed 1048575.": (
        1048575
    ),
    '{"error":{"code":400,"message":"the request exceeds the available context size. try",'
    '"type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}': 256,
    "request (14070 tokens) exceeds the available context size (4096 tokens), try": 4096,
    "the decoder prompt (length 40961) is longer than the maximum model length of 32768.": 32768,
    "You passed 40961 input tokens and requested 4096. However, the model's context length is only "
    "32768 tokens": 32768,
    "truncating input prompt limit=8192 prompt=18538 keep=4 new=8192": 8192,
    "Please reduce the length of the messages or completion. maximum context length is 131072": (
        131072
    ),
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens": 4096,
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens": 131072,
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length": 32768,
}


@pytest.mark.parametrize(("message", "limit"), SAID.items(), ids=range(len(SAID)))
def test_a_limit_is_found_where_it_is_said(message: str, limit: int) -> None:
    assert limit_in(message) == limit


@pytest.mark.parametrize(
    "message",
    [
        "Your request could not be processed",
        "invalid x-api-key",
        "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens",
        "maximum context length is 12 tokens",
        "",
    ],
)
def test_no_limit_is_made_up(message: str) -> None:
    assert limit_in(message) is None


@given(st.text())
def test_any_text_can_be_looked_through(message: str) -> None:
    found = limit_in(message)
    assert found is None or LEAST <= found <= MOST
