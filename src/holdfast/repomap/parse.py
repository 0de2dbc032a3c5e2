"""From the text of one file to what it defines and refers to.

Each language is a grammar that comes as a wheel, and a query of ours beside this file. Parsing is
not bounded in time: whoever reads files of others does it through `worker`.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from holdfast.core.repo_map import Definition, Tags
from holdfast.errors import InvalidRequest

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

LANGUAGES: Final = {
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "c_sharp": ("tree_sitter_c_sharp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "python": ("tree_sitter_python", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
"""The module of each grammar, and what makes it."""

ENDINGS: Final = {
    "c": "c", "h": "cpp", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp",
    "cs": "c_sharp", "go": "go", "java": "java", "js": "javascript", "cjs": "javascript",
    "mjs": "javascript", "jsx": "javascript", "php": "php", "py": "python", "pyi": "python",
    "rb": "ruby", "rs": "rust", "tsx": "tsx", "ts": "typescript", "mts": "typescript",
    "cts": "typescript",
}  # fmt: skip

MISSING: Final = "a map of a repository needs tree-sitter; pip install 'holdfast[repomap]'"

LONGEST: Final = 120
"""How long the line of a definition is at most, in characters."""

MOST: Final = 4_000
"""A file with more definitions, or more names it refers to, is known by the first so many."""


def language_of(path: str) -> str:
    """The language of a file by the ending of its name; empty where we read none such."""
    name, _, ending = path.rpartition(".")
    return ENDINGS.get(ending.lower(), "") if name else ""


def installed() -> bool:
    """Whether there is anything to parse with."""
    return find_spec("tree_sitter") is not None


@cache
def version() -> str:
    """What changes when the same file may be read differently: our queries and this code."""
    read = sha256(f"{LONGEST} {MOST} 1".encode())
    for language in LANGUAGES:
        read.update(_query_text(language).encode())
    return read.hexdigest()


def tags(language: str, source: bytes) -> Tags:
    """What a file defines and refers to; broken syntax costs what is broken and little more."""
    parser, query = _tools(language)
    from tree_sitter import QueryCursor

    matches = QueryCursor(query).matches(parser.parse(source).root_node)
    found: dict[tuple[int, str], Definition] = {}
    names: set[int] = set()
    referred: list[Node] = []
    for _, captured in matches:
        if "definition" in captured:
            node, name = captured["definition"][0], captured["name"][0]
            one = _definition(node, name, source)
            found.setdefault((one.first, one.name), one)
            names.add(name.start_byte)
        referred += captured.get("reference", ())
    places = {node.start_byte: node for node in referred if node.start_byte not in names}
    counts = Counter(_text(node, source) for node in places.values())
    order = sorted(found.values(), key=lambda one: (one.first, -one.last, one.name))
    return Tags(tuple(order[:MOST]), dict(sorted(counts.items())[:MOST]))


def _definition(node: Node, name: Node, source: bytes) -> Definition:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    return Definition(_text(name, source), first, last, _beginning(node, source))


def _beginning(node: Node, source: bytes) -> str:
    """How a definition begins: up to its body, in one line."""
    body = node.child_by_field_name("body")
    if body is not None and body.start_byte > node.start_byte:
        text = source[node.start_byte : body.start_byte]
    else:
        text = source[node.start_byte : node.end_byte].split(b"\n", 1)[0]
    line = " ".join(text[: LONGEST * 8].decode("utf-8", "replace").split())
    line = "".join(sign for sign in line if sign.isprintable())
    line = line.replace("( ", "(").replace(", )", ")").replace(" )", ")").rstrip(" {([:=>")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte][:LONGEST].decode("utf-8", "replace")


@cache
def _tools(language: str) -> tuple[Parser, Query]:
    try:
        from tree_sitter import Language, Parser, Query

        module, make = LANGUAGES[language]
        grammar = Language(getattr(import_module(module), make)())
    except ImportError as absent:
        raise InvalidRequest(MISSING) from absent
    return Parser(grammar), Query(grammar, _query_text(language))


def _query_text(language: str) -> str:
    queries = files("holdfast.repomap") / "queries"
    names = ("typescript", "tsx") if language == "tsx" else (language,)  # the one, and elements
    return "".join([(queries / f"{name}.scm").read_text("utf-8") for name in names])
