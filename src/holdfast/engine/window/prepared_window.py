"""A prepared window, as whoever asked for it sees it: numbers, sections, and requests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Unpack, overload

from msgspec import Struct
from msgspec.structs import replace

from holdfast.codecs.native import normalised, thinks, typed_options, with_length
from holdfast.core.compaction.provider_edits import edits
from holdfast.core.window.explain import by_section
from holdfast.core.window.repair import Fix
from holdfast.engine.arguments import checks_arguments
from holdfast.engine.plugins import codec
from holdfast.engine.window.over_budget import reply_fits
from holdfast.errors import InvalidRequest, Refused
from holdfast.model import wire
from holdfast.model.log import Folded
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Count, Format, Options, RequestOptions, Violation, Window

UNSTREAMED = {"anthropic": 21_333}
"""The longest reply that a provider's own SDK waits for when it is not streamed: ten minutes."""

ASKED = frozenset({"history", "current", "kept", "summary"})
"""The sections that show what was said, or what stands for it."""


@checks_arguments
class PreparedWindow:
    """Exactly what will be sent, and the requests it makes."""

    holds_replies = True
    """Whether the length of a reply is held against what is left of the window."""

    def __init__(
        self,
        window: Window,
        profile: Profile,
        *,
        folded: Folded,
        head: int,
        estimated: int,
        fixes: tuple[Fix, ...] = (),
        given: str = "",
        options: Options | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.window = window
        self.profile = profile
        self.fixes = fixes
        """What was repaired so that the request is valid."""
        self.folded, self.head, self.estimated, self.given = folded, head, estimated, given
        self._options = options or Options()
        self._policy = policy
        self.on_request: Callable[[str, Options, str], None] | None = None
        """Called with the format, the options and the hash of each request that is made."""

    @property
    def tokens(self) -> int:
        """How many tokens the prompt takes, as well as that is known."""
        return self.window.tokens.tokens

    @property
    def count(self) -> Count:
        """The same number with how it is known and how far it may be off."""
        return self.window.tokens

    @property
    def over(self) -> int:
        """By how many tokens it is too large; 0 when it fits."""
        return self.window.over

    @property
    def policy_name(self) -> str:
        """The policy it was made under."""
        return self._policy.name if self._policy else ""

    @property
    def policy(self) -> Policy | None:
        """The same as data."""
        return self._policy

    @property
    def sections(self) -> dict[str, int]:
        """Tokens by section, in the order of the window; together they are `tokens`."""
        return by_section(self.window, self.profile)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Every block, with its source and the rule that kept it."""
        return self.window.blocks

    @overload
    def request(self, format: Format, **options: Unpack[RequestOptions]) -> dict[str, Any]: ...

    @overload
    def request(self, format: str, **options: Any) -> dict[str, Any]: ...

    def request(self, format: str, **options: Any) -> dict[str, Any]:
        """The request for a wire format, as the provider's own SDK takes it; always valid."""
        encoder = codec(format)
        if not any(block.section in ASKED for block in self.window.blocks):
            raise InvalidRequest(
                "nothing was asked in this session, and no provider answers to that; say it with "
                "s.user(…) first, then prepare the window again"
            )
        chosen = self._chosen(options, encoder.name)
        request = encoder.encode(self.window, self.profile, chosen)
        data = wire.encode(request)
        broken = encoder.violations(request, self.profile) or self._too_large(len(data))
        if broken:
            raise Refused(encoder.name, broken)
        if self.on_request:
            self.on_request(encoder.name, chosen, wire.digest(data).hex())
        return request

    def _too_large(self, size: int) -> list[Violation]:
        """Whether it has more bytes than this provider takes, where that is known."""
        most = self.window.budget.request_bytes
        if not most or size <= most:
            return []
        told = f"the request has {size:,} bytes, at most {most:,} are taken"
        return [Violation(rule="bytes", where="", message=told)]

    def _chosen(self, told: dict[str, Any], format: str = "") -> Options:
        """Our own options by name; whatever else is told goes into the request as it is."""
        told = with_length(typed_options(told))
        known = {name: value for name, value in told.items() if name in Options.__struct_fields__}
        other = {name: value for name, value in told.items() if name not in known}
        extra = {**self._options.extra, **known.pop("extra", {}), **other}
        names = {tool.name for tool in self.window.tools}
        chosen = normalised(replace(self._options, **known, extra=extra), format, names)
        policy = self._policy
        if policy and policy.strategy == "server" and "server_edits" not in known:
            thinking = any(map(thinks, (chosen.thinking, chosen.effort, extra.get("thinking"))))
            asked = edits(
                policy, self.profile, thinking=thinking, folded=self.folded,
                blocks=self.window.blocks,
            )  # fmt: skip
            chosen = replace(chosen, server_edits=asked or chosen.server_edits)
        if chosen.max_tokens:
            if not self.over and self.holds_replies:
                reply_fits(self.profile, self.window.tokens.most, chosen.max_tokens)
            return chosen
        if own := self._policy and self._policy.budget.output:
            return replace(chosen, max_tokens=own)
        output, streams = self._output(), chosen.stream or extra.get("stream")
        return replace(chosen, max_tokens=output if streams else min(output, _waited(format)))

    def _output(self) -> int:
        left = self.profile.window - self.window.tokens.most
        return self.window.budget.output or min(self.profile.output_limit, max(left, 1))


class SentRequest(Struct, frozen=True, kw_only=True):
    """What is remembered of a request until its reply comes."""

    format: str
    options: Options
    window: PreparedWindow
    hash: str
    """What identifies the request, whatever its caller changes in it since."""
    started: int


def _waited(format: str) -> int:
    return UNSTREAMED.get(format, sys.maxsize)


def request_hash(request: dict[str, Any]) -> str:
    """What identifies a request: the SHA-256 of its JSON."""
    return wire.digest(wire.encode(request)).hex()
