"""Every language we read: what its files define, and what they refer to."""

import pytest

from holdfast.repomap.parse import ENDINGS, LANGUAGES, language_of, tags

SOURCES = {
    "python": (
        "class Store(Base):\n    def open(self, path: Path) -> None:\n        helper(path)\n",
        {"Store": "class Store(Base)", "open": "def open(self, path: Path) -> None"},
        {"Base", "Path", "helper"},
    ),
    "javascript": (
        "import {other} from './o';\nclass Store extends Base { open(path) { helper(path); } }\n"
        "export const make = (a) => new Store(a);\n",
        {"Store": "class Store extends Base", "open": "open(path)", "make": "make = (a) => new"},
        {"Base", "helper", "other"},
    ),
    "typescript": (
        "export interface Shape { area(): number }\nfunction total(s: Shape[]): number {\n"
        "  return sum(s)\n}\nclass Box implements Shape { area(): number { return 1 } }\n",
        {"Shape": "interface Shape", "total": "function total(s: Shape[]): number", "Box": ""},
        {"Shape", "sum"},
    ),
    "tsx": (
        "const App = () => <Panel onClick={go()} />;\n", {"App": "App = () =>"}, {"Panel", "go"},
    ),
    "go": (
        "package a\ntype Store struct { n int }\nfunc (s *Store) Open(p Path) error {\n"
        "\treturn helper(p)\n}\n",
        {"Store": "Store struct", "Open": "func (s *Store) Open(p Path) error"},
        {"Path", "helper"},
    ),
    "rust": (
        "pub struct Store { n: u8 }\nimpl Store {\n"
        "  pub fn open(p: &Path) -> Store { helper(p) }\n}\n",
        {"Store": "pub struct Store", "open": "pub fn open(p: &Path) -> Store"},
        {"Path", "helper", "Store"},
    ),
    "java": (
        "class Store extends Base {\n  Path open(String s) { return helper(s); }\n}\n",
        {"Store": "class Store extends Base", "open": "Path open(String s)"},
        {"Base", "Path", "helper"},
    ),
    "c": (
        "struct store { int n; };\n#define LIMIT 3\nint open_store(struct path *p) {\n"
        "  return helper(p, LIMIT);\n}\n",
        {"store": "struct store", "open_store": "int open_store(struct path *p)", "LIMIT": ""},
        {"helper", "path", "LIMIT"},
    ),
    "cpp": (
        "class Store : public Base {\n public:\n  int open(Path p) { return helper(p); }\n};\n"
        "int Store::shut() { return 0; }\n",
        {"Store": "class Store : public Base", "open": "int open(Path p)", "shut": ""},
        {"Base", "Path", "helper"},
    ),
    "c_sharp": (
        "class Store : Base {\n  Path Open(Name s) { return Helper(s); }\n}\n",
        {"Store": "class Store : Base", "Open": "Path Open(Name s)"},
        {"Base", "Name", "Helper"},
    ),
    "php": (
        "<?php\nclass Store extends Base {\n  function open(Path $p) { return helper($p); }\n}\n",
        {"Store": "class Store extends Base", "open": "function open(Path $p)"},
        {"Base", "Path", "helper"},
    ),
    "ruby": (
        "class Store < Base\n  def open(path)\n    helper(path)\n  end\nend\n",
        {"Store": "class Store < Base", "open": "def open(path)"},
        {"Base", "helper"},
    ),
}  # fmt: skip


def test_every_language_is_tried_here() -> None:
    assert set(SOURCES) == set(LANGUAGES) == set(ENDINGS.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_definitions_and_references_of(language: str) -> None:
    source, definitions, references = SOURCES[language]
    found = tags(language, source.encode())
    texts = {one.name: one.text for one in found.definitions}
    assert definitions.keys() <= texts.keys()
    for name, text in definitions.items():
        assert texts[name].startswith(text)
    assert references <= found.references.keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_broken_syntax_and_bytes_that_are_no_text_are_read_as_far_as_they_go(language: str) -> None:
    source = SOURCES[language][0].encode()
    for broken in (source[: len(source) // 2], b"\xff\xfe" + source, source[::-1], b"", b"}{" * 99):
        tags(language, broken)


def test_a_language_is_known_by_the_ending_of_a_name() -> None:
    assert [language_of(path) for path in ("a/b.PY", "x.tsx", ".py", "Makefile", "a.unknown")] == [
        "python", "tsx", "", "", "",
    ]  # fmt: skip


def test_a_long_beginning_is_cut_and_told_in_one_line() -> None:
    many = ", ".join(f"argument_{n}: int" for n in range(60))
    (one,) = tags("python", f"def f(\n    {many}\n) -> None:\n    pass\n".encode()).definitions
    assert len(one.text) == 120
    assert one.text.endswith("…")
    (one,) = tags("python", b"def f(\n    a: int,\n) -> None:\n    pass\n").definitions
    assert one.text == "def f(a: int) -> None"
