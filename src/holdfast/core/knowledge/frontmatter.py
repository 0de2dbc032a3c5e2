"""Frontmatter: the fields between two lines of `---` at the head of a Markdown file.

Rule 1: the fields are texts and lists of texts, in the subset of YAML that such files use: plain
        and quoted values, `[a, b]`, lists of `- item`, and the block texts `|` and `>`.
Rule 2: reading never fails. A head that is not closed is body; a line that is no field is left out.
Rule 3: what `write` makes, `read` reads back as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

Value = str | tuple[str, ...]

MOST_LINES: Final = 200
"""A head of more lines is body: no file of this kind has one."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FIELD = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([|>])[+-]?[0-9]?[+-]?(?:[ \t]+#.*)?")
_PLAIN = re.compile(r"[A-Za-z_0-9./*][^#:\[\]{}\"']*")


class Document(Struct, frozen=True):
    """A file: its fields by name, and what stands below them."""

    fields: dict[str, Value] = {}
    body: str = ""

    def text(self, name: str) -> str:
        """A field as one text; a list as its items with commas, empty where there is none."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ", ".join(value)

    def list(self, name: str) -> tuple[str, ...]:
        """A field as a list; a text is parted at its commas, but for those within braces."""
        value = self.fields.get(name, "")
        parted = _parted(value) if isinstance(value, str) else value
        return tuple(one for one in parted if one)


def read(text: str) -> Document:
    """The fields and the body of a file."""
    lines = _LINE.findall(text.removeprefix("\ufeff"))
    if not lines or lines[0].rstrip() != "---":
        return Document({}, text)
    head = lines[1 : MOST_LINES + 2]
    end = next((n for n, line in enumerate(head) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return Document({}, text)
    body = "".join(lines[end + 2 :])
    return Document(_fields([line.rstrip("\r\n") for line in head[:end]]), body)


def write(fields: Mapping[str, str | Sequence[str]], body: str) -> str:
    """A file of these fields and this body."""
    lines = [f"{name}: {_written(value)}" for name, value in fields.items()]
    return "\n".join(("---", *lines, "---", body))


def _fields(lines: Sequence[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    at = 0
    while at < len(lines):
        field = _FIELD.fullmatch(lines[at])
        at += 1
        if not field:
            continue
        below = at
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t-#"):
            at += 1
        found[field[1]] = _value((field[2] or "").strip(), lines[below:at])
    return found


def _value(first: str, below: Sequence[str]) -> Value:
    """The value of a field: what stands behind its name, and the lines below that belong to it."""
    if block := _BLOCK.fullmatch(first):
        return _block(block[1], below)
    rest = [line for line in below if line.strip() and not line.lstrip().startswith("#")]
    if not _uncommented(first) and rest and all(map(_ITEM.fullmatch, rest)):
        return tuple(_scalar(found[1] or "") for found in map(_ITEM.fullmatch, rest) if found)
    whole = " ".join((_uncommented(first), *(_uncommented(line.strip()) for line in rest))).strip()
    if whole.startswith("[") and whole.endswith("]"):
        return tuple(_scalar(one) for one in _parted(whole[1:-1]) if one)
    return _scalar(whole)


def _block(kind: str, lines: Sequence[str]) -> str:
    """A block text: as it is written (`|`), or with its lines joined (`>`)."""
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    cut = min(indents, default=0)
    texts = [line[cut:].rstrip() for line in lines]
    if kind == "|":
        return "\n".join(texts).strip("\n")
    paragraphs = "\n".join(texts).strip("\n").split("\n\n")
    return "\n".join(" ".join(one.split("\n")) for one in paragraphs)


def _scalar(text: str) -> str:
    text = _uncommented(text.strip())
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text, strict=False))
        except ValueError:  # an escape of YAML's that JSON does not have
            return text[1:-1]
    return text


def _uncommented(text: str) -> str:
    """A value without the comment behind it; one in quotes or brackets is as it is."""
    if text.startswith(("'", '"', "[")):
        end = text.rfind("]" if text[0] == "[" else text[0])
        return text[: end + 1] if end > 0 and text[end + 1 :].lstrip().startswith("#") else text
    return "" if text.startswith("#") else re.split(r"[ \t]#", text, maxsplit=1)[0].rstrip()


def _parted(text: str) -> list[str]:
    """The items between commas, but for commas within braces or quotes."""
    items, depth, quote, begun, escaped = list[str](), 0, "", 0, False
    for at, letter in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = letter == "\\" and quote == '"'
            quote = "" if letter == quote else quote
        elif letter in "\"'" and not text[begun:at].strip():
            quote = letter
        elif letter in "{}":
            depth = max(depth + (1 if letter == "{" else -1), 0)
        elif letter == "," and not depth:
            items.append(text[begun:at].strip())
            begun = at + 1
    return [*items, text[begun:].strip()]


def _written(value: str | Sequence[str]) -> str:
    if not isinstance(value, str):
        return f"[{', '.join(_quoted(one) for one in value)}]"
    plain = _PLAIN.fullmatch(value) and value.isprintable() and value == value.strip()
    return value if plain else _quoted(value)


def _quoted(text: str) -> str:
    """A text in quotes, on one line: also where it holds a character that ends lines elsewhere."""
    made = json.dumps(text, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", made)
