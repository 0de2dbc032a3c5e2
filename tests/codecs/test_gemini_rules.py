"""Each rule of G1–G6: a request broken by hand is caught by exactly it, the mended one by none."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from holdfast.codecs.gemini import Gemini
from holdfast.model.profile import Profile

PROFILE = Profile(name="gemini-3-pro-preview")


def good() -> dict[str, Any]:
    call = {"function_call": {"id": "c1", "name": "read", "args": {}}, "thought_signature": "AAEC"}
    second = {"function_call": {"id": "c2", "name": "read", "args": {}}}
    answers = [
        {"function_response": {"id": f"c{n}", "name": "read", "response": {"output": "x"}}}
        for n in (1, 2)
    ]
    return {
        "model": "gemini-3-pro-preview",
        "contents": [
            {"role": "user", "parts": [{"text": "Read both."}]},
            {"role": "model", "parts": [{"text": "Yes."}, call, second]},
            {"role": "user", "parts": answers},
            {"role": "model", "parts": [{"text": "Read."}]},
        ],
        "config": {"tools": [{"function_declarations": [{"name": "read"}]}]},
    }


def parts(request: dict[str, Any], turn: int) -> list[dict[str, Any]]:
    return request["contents"][turn]["parts"]


BREAKS: list[tuple[str, str, str, Callable[[dict[str, Any]], Any]]] = [
    ("G1", "contents.2", "number of function response parts", lambda r: parts(r, 2).pop()),
    (
        "G1",
        "contents.2",
        "number of function response parts",
        lambda r: parts(r, 2)[0]["function_response"].update(name="write"),
    ),
    (
        "G1",
        "contents.2",
        "number of function response parts",
        lambda r: parts(r, 2)[0]["function_response"].update(id="c9"),
    ),
    (
        "G1",
        "contents.4",
        "function response turn comes immediately after",
        lambda r: r["contents"].append(deepcopy(r["contents"][2])),
    ),
    (
        "G2",
        "contents.2",
        "function call turn comes immediately after a user turn",
        lambda r: r["contents"].insert(1, {"role": "model", "parts": [{"text": "Well."}]}),
    ),
    ("G2", "contents.0", "valid role", lambda r: r["contents"][0].update(role="system")),
    (
        "G3",
        "contents.1.parts.1",
        "missing a thought_signature in functionCall parts",
        lambda r: parts(r, 1)[1].pop("thought_signature"),
    ),
    (
        "G4",
        "contents.1.parts.1",
        "Base64 decoding failed",
        lambda r: parts(r, 1)[1].update(thought_signature="msg_01!"),
    ),
    ("G4", "contents.3", "parts must not be empty", lambda r: parts(r, 3).clear()),
    ("G4", "contents.3.parts.0", "required oneof field 'data'", lambda r: parts(r, 3)[0].clear()),
    (
        "G5",
        "contents.0.parts.0",
        "Corrupted thought signature",
        lambda r: parts(r, 0)[0].update(thought_signature="AAEC"),
    ),
    (
        "G6",
        "config.cached_content",
        "CachedContent can not",
        lambda r: r["config"].update(cached_content="cachedContents/1"),
    ),
]


@pytest.mark.parametrize(("rule", "where", "message", "harm"), BREAKS)
def test_a_broken_request_breaks_exactly_its_rule(
    rule: str, where: str, message: str, harm: Callable[[dict[str, Any]], Any]
) -> None:
    request = good()
    assert Gemini().violations(request, PROFILE) == []
    harm(request)
    found = Gemini().violations(request, PROFILE)
    assert {violation.rule for violation in found} == {rule}
    assert found[0].where == where
    assert message in found[0].message


def test_old_turns_and_old_models_need_no_signature() -> None:
    request = good()
    del parts(request, 1)[1]["thought_signature"]
    later = request["contents"] + [{"role": "user", "parts": [{"text": "And now?"}]}]
    assert Gemini().violations(request | {"contents": later}, PROFILE) == []
    assert Gemini().violations(request | {"model": "gemini-2.5-pro"}, PROFILE) == []


def test_a_signature_on_the_thought_before_the_call_counts() -> None:
    request = good()
    del parts(request, 1)[1]["thought_signature"]
    parts(request, 1)[0].update(thought=True, thought_signature="AAEC")
    assert Gemini().violations(request, PROFILE) == []
