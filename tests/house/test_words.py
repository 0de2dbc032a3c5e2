"""Modules are named by words that one would type into a search box; a new word is a conscious line.

The words are those of docs/glossary.md, of Python, and of the formats and programs that are spoken
to. A word that nobody would search for ("scene", "purse", "lately") does not come in.
"""

import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holdfast"

_LIST = """
acceptance admission agent agents ai aider answers anthropic api app append approval arguments
around ask assemble attachments authored back background backups base batch blobs blocking
blocks boundary bounds bridge budget build burn cache calibrate call calls cap caps catalogue
charts chat check checkpoints checks child choice claims claude clear cli client code codecs
codex command commands commit commits compact compaction compactions completer completion
completions concealment config connection consolidation content contents context contracts
contradictions conversation copies copilot core cost costs count counters counts database dates
days decision decode deferral deferred demo dialects diff digest directories directory discovery
doctor document earlier economics editor edits effects effort embedded embedder embedders emit
encode endpoint endpoints engine english entry erase erasing erasure errors estimate event
events exact exit explain export exporters exporting extract extraction face facets factories
facts failpoints families fast fidelity file files filters find fingerprints focus fold forecast
forgetting forks format frameworks frontmatter fts fullness gemini git gitignore grep handed
handles handoff header health held help hidden history hooks html identifiers ids image import
importer importers importing imports incremental index indexing influence input inspect
instruction instructions items job jobs json jsonl keep kept key keys knowledge ladder langchain
langgraph last launchers layout lazy learn learned learning lease ledger lexing limit limits
line lineage list literal literals live loading local location log logs lookup loop main manage
map markdown marker match matching meaning media memory mentions message messages metrics
migrate migrations model models name names native nearest neighbours neutralise note notes
notice objections objects occupancy openai opencode options orphans output outputs over own page
pairs parallel parse partial parts path payload pending periods permissions pi pieces pins
pixels plan plans plugins policies policy port portable ports prebuilt preparation prepared
price problems process profile project prompt prompts provider providers pydantic questions
quotations quotes ranked ranking rate raw read readable reader recall recognise record recorded
recorder records refusal refusals remember render repair replay reply repo repomap report
request requests response responses rest restore resume retention rewind rewinds roles rows rule
rules run safe said salvage saved scaffold scan schema screen script scripted sdk search
searchable secrets section sections semantic send served server servers session sessions
settings setup shared shed shedding shelf shell show side signals situation sizes skill skills
slash snapshot snapshots snippets source span spelling spending sql sqlite sse state stats
status stems steps store stored stores strategies stream strict subtask summarise summariser
summary tags telemetry terminal terms testing text texts thoughts thread threads todos token
tokens tool toolbox tools traces transcript transcripts transfer transport tree truncate trust
trusting turn turns ui undo unicode url usage validate values vault vectors verbatim view
visible walk warm warnings watch weights window wire wishes wordllama words worker workers
workspace workspaces writer
"""

WORDS = frozenset(_LIST.split())


def unknown(package: Path) -> dict[str, set[str]]:
    """The modules and packages named with words that are not listed, with those words."""
    found: dict[str, set[str]] = {}
    for file in package.rglob("*.py"):
        place = file.parent if file.stem == "__init__" else file
        if place == package or file.stem == "__main__":
            continue
        words = set(filter(None, re.split(r"[_\d]+", place.stem)))
        if words - WORDS:
            found[place.relative_to(package).as_posix()] = words - WORDS
    return found


def test_modules_are_named_by_words_of_the_list() -> None:
    assert unknown(PACKAGE) == {}, "name it by a word of the glossary, or add one line here"


def test_a_planted_opaque_name_is_seen(tmp_path: Path) -> None:
    for name in ("lease", "scene", "token_purse"):
        (tmp_path / f"{name}.py").write_text('"""Head."""\n')
    assert unknown(tmp_path) == {"scene.py": {"scene"}, "token_purse.py": {"purse"}}
