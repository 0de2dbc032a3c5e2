"""A captured request without what is not ours to keep: prose, paths, names, ids, dates.

Everything that has a meaning on the wire stays: kinds, roles, order, fields, breakpoints, names of
tools, the shape of their schemas, pairs of ids, signatures of the strict server.
"""

import json
import re
from typing import Any

from holdfast.testing.strict import Asked
from tests.agents.harness import Place

HEADERS = (
    *("accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "originator"),
    *("user-agent", "x-app", "x-codex-beta-features", "x-openai-internal-codex-responses-lite"),
)
VERBATIM = (
    *("arguments", "args", "data", "encrypted_content", "image_url", "signature"),
    *("thinking", "thoughtSignature"),
)
MANY = 3
"""How many tools are kept of a row that has more, beside those that are special."""
PLAIN = re.compile(r"[\w.,:;=/@+-]{1,80}")
UNIQUE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b")
TAG = re.compile(r"\s*<([a-z_-]+)(?: [a-z_]+)?>")
LEFT_OUT = "(left out)"


class Cleaner:
    """Cleans the requests of one session, so that what was the same stays the same."""

    def __init__(self, place: Place, kept: set[str]) -> None:
        self._paths = [(str(place.work), "/work"), (str(place.home), "/home/user")]
        self._kept = kept
        self._ids: dict[str, str] = {}

    def request(self, asked: Asked) -> dict[str, Any]:
        """A request as it is written to a file."""
        headers = {name: asked.headers[name] for name in HEADERS if name in asked.headers}
        headers["user-agent"] = headers["user-agent"].split(" ")[0]
        return {
            "format": asked.format,
            "endpoint": asked.endpoint,
            "model": asked.model,
            "headers": headers,
            "body": self.value(asked.body),
        }

    def value(self, value: Any, key: str = "") -> Any:
        """Any value under a key, cleaned."""
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, list):
            rows = _fewer(value) if key in ("tools", "functionDeclarations") else value
            return [self.value(each, key) for each in rows]
        if isinstance(value, dict):
            return {name: self.value(each, name) for name, each in value.items()}
        return 0 if key.endswith(("_ms", "_seconds")) else value

    def _text(self, text: str, key: str) -> str:
        if key not in VERBATIM and text.startswith("{") and (inner := _parsed(text)):
            return json.dumps(self.value(inner))
        for path, name in self._paths:
            text = text.replace(path, name)
        text = UNIQUE.sub(lambda found: self._id(found[0]), text)
        if key in VERBATIM or text in self._kept or PLAIN.fullmatch(text):
            return text
        if tag := TAG.match(text):
            return f"<{tag[1]}>{LEFT_OUT}</{tag[1]}>"
        return LEFT_OUT if text else ""

    def _id(self, found: str) -> str:
        number = len(self._ids) + 1
        made = f"00000000-0000-7000-8000-{number:012d}" if "-" in found else f"{number:064d}"
        return self._ids.setdefault(found, made)


def _fewer(tools: list[Any]) -> list[Any]:
    """Some tools of a row: the first, and those with fields that the first ones do not have."""
    common = {name for tool in tools[:MANY] for name in tool}
    return tools[:MANY] + [
        tool for tool in tools[MANY:] if tool.keys() - common or tool.get("type") == "namespace"
    ]


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return json.loads(text)
    except ValueError:
        return None
