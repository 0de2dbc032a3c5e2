"""Whom to talk to: by the name, by the keys that are there, by the address that is configured."""

import pytest

from holdfast.agent.whom import compatible
from holdfast.errors import Misuse
from holdfast.providers.transport import HttpTransport


def test_an_address_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compatible({"OPENAI_BASE_URL": "http://[bad"})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[bad")
    with pytest.raises(Misuse, match="an address cannot be read"):
        HttpTransport("openai")
