"""A key as it stands in the environment: what is no part of it, and what no header holds."""

from contextlib import closing

import pytest

from holdfast.engine.client import drive
from holdfast.engine.settings import settings
from holdfast.errors import InvalidRequest, Unreachable
from holdfast.providers.transport import HttpTransport
from tests.providers.test_transport import KEY, answering, asked, playing


@pytest.mark.parametrize("ending", ["\r", "\n", "\r\n", " "])
def test_what_ends_a_line_is_no_part_of_a_key(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{KEY}{ending}")
    assert settings().secrets == (KEY,)
    with playing(answering(200, b'{"input_tokens": 3}')) as (url, heard):
        asked(url, key="")
        asked(url, key=f"{KEY}{ending}")
    assert [headers["x-api-key"] for _, headers, _ in heard] == [KEY, KEY]


@pytest.mark.parametrize(
    "key", ["sk-0123\r4567", "sk-0123\x004567", "sk-0123é4567", "sk-\udce94567"]
)
def test_a_key_that_no_header_holds_is_refused_and_not_quoted(key: str) -> None:
    with pytest.raises(InvalidRequest, match="ANTHROPIC_API_KEY") as raised:
        HttpTransport("anthropic", key=key)
    assert "4567" not in str(raised.value)
    assert "0123" not in str(raised.value)


def test_a_header_that_cannot_be_sent_is_not_quoted() -> None:
    with playing(answering(200)) as (url, _), closing(HttpTransport("openai", url=url)) as ours:
        with pytest.raises(Unreachable, match="check the key") as raised:
            drive(ours.post("/x", b"{}", {"authorization": f"Bearer {KEY}\r"}))
        assert KEY not in str(raised.value)
        assert raised.value.__cause__ is None
