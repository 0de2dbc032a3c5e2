"""Two readings of each rule agree: the codecs' own, and the strict server's, written apart.

Every codec's requests for windows from every generator are accepted by the server's rules, and
what was broken by hand is named alike by both.
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.codecs.anthropic import Anthropic
from holdfast.codecs.gemini import Gemini, rest
from holdfast.codecs.openai_chat import ChatCodec
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.core.window.repair import repair
from holdfast.model.message import Opaque, Part
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Options
from holdfast.ports import Codec
from holdfast.testing.strict.refusal import Case, Refusal, first
from holdfast.testing.strict.script import Asked
from holdfast.testing.strict.server import FACES
from holdfast.testing.strict.vault import Vault
from tests.codecs import anthropic_windows, gemini_windows, openai_windows, strict_requests
from tests.codecs.strict_requests import Broken
from tests.thorough import share

CODECS: dict[str, Codec] = {
    "anthropic": Anthropic(),
    "openai-responses": ResponsesCodec(),
    "openai-chat": ChatCodec(),
    "gemini": Gemini(),
}
MODELS = {
    "anthropic": ["claude-opus-4-6", "claude-sonnet-4-5", anthropic_windows.MODEL],
    "openai-responses": [openai_windows.MODEL, "gpt-4.1"],
    "openai-chat": [openai_windows.MODEL, "gpt-4.1"],
    "gemini": ["gemini-3-pro-preview", "gemini-2.5-flash"],
}
GENERATORS = {
    "anthropic": anthropic_windows.windows(),
    "openai": openai_windows.windows(),
    "google": gemini_windows.windows(),
}
VERSIONS = st.sampled_from(["2023-06-01", "2026-10-21"])


def judged(format: str, body: dict[str, Any], model: str, version: str) -> Refusal | None:
    """What the server would say to a body, signatures from elsewhere taken on trust."""
    face = next(face for face in FACES if face.format == format)
    asked = Asked(
        format=face.format,
        endpoint="create",
        model=model,
        stream=False,
        body=face.read(json.loads(json.dumps(body))),
        headers={
            "anthropic-version": version,
            "anthropic-beta": ",".join(map(str, body.get("betas") or ())),
        },
    )
    return first(Case(asked=asked, vault=Vault(), foreign=True), face.rules)


@pytest.mark.parametrize("format", CODECS)
@settings(max_examples=share(150))
@given(data=st.data(), options=anthropic_windows.OPTIONS, version=VERSIONS)
def test_the_server_accepts_every_codec_s_requests_for_any_window(
    format: str, data: st.DataObject, options: Options, version: str
) -> None:
    codec, model = CODECS[format], data.draw(st.sampled_from(MODELS[format]))
    maker = data.draw(st.sampled_from(sorted(GENERATORS)))
    window = data.draw(GENERATORS[maker])
    blocks = window.blocks if maker == codec.provider else _understood(window.blocks, codec)
    given = replace(window, model=model, blocks=repair(blocks).blocks, breakpoints=())
    plain = replace(options, server_edits={}, extra={})
    request = codec.encode(given, Profile(name=model, provider=codec.provider), plain)
    body = rest(request) if format == "gemini" else request
    assert judged(format, body, model, version) is None


def _understood(blocks: Sequence[Block], codec: Codec) -> list[Block]:
    """Without the opaque parts that one provider's generator makes up in another's name."""
    return [
        replace(block, parts=tuple(p for p in block.parts if not _made_up(p, codec.provider)))
        for block in blocks
    ]


def _made_up(part: Part, provider: str) -> bool:
    return isinstance(part, Opaque) and part.owner == provider


NEEDS_A_MEMORY = ("shape", "O5", "O6", "G5")
"""What only a server that issued it can tell."""


@pytest.mark.parametrize(
    "case",
    [case for case in strict_requests.every() if case.rule not in NEEDS_A_MEMORY],
    ids=lambda case: f"{case.rule}-{case.message[:24]}",
)
def test_the_codec_names_the_same_rule_as_the_server(case: Broken) -> None:
    if case.rule == "A7":
        pytest.skip("a signature that only looks right is for the server to tell")
    model = MODELS[case.format][0]
    good, broken = deepcopy(case.good), deepcopy(case.good)
    case.harm(broken)
    codec = CODECS[case.format]
    profile = Profile(name=model, provider=codec.provider)
    for body, wanted in ((good, set[str]()), (broken, {case.rule})):
        request = body if case.format != "gemini" else _for_the_sdk(body, model)
        found = {violation.rule for violation in codec.violations(request, profile)}
        assert found >= wanted
        assert bool(found) == bool(wanted)


def _for_the_sdk(body: dict[str, Any], model: str) -> dict[str, Any]:
    config = {name: value for name, value in body.items() if name != "contents"}
    if "cachedContent" in config:
        config["cached_content"] = config.pop("cachedContent")
    return {"model": model, "contents": body["contents"], "config": config}
