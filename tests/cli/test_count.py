"""`holdfast count` counts text, pictures and documents, of any size, and says how it knows."""

import sys
from pathlib import Path

import pytest

from holdfast.counters.exact import count
from holdfast.testing.strict import StrictServer
from tests.cli.running import run, values

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + (1_024).to_bytes(4) * 2 + b"\0" * 20
WORDS = "The log is kept whole, and the window shows what fits. 日志。\n"


@pytest.fixture
def text(tmp_path: Path) -> str:
    file = tmp_path / "notes.txt"
    file.write_text(WORDS * 50, "utf-8")
    return str(file)


def test_a_text_is_counted_exactly_where_that_can_be(text: str) -> None:
    (told,) = values("count", text)
    assert told == {
        "tokens": count(WORDS * 50, "o200k_base"), "tier": "exact", "error": 0, "model": "",
        "vocabulary": "o200k_base", "kind": "text", "bytes": len(WORDS.encode()) * 50,
        "assumed": [], "nearest": [],
    }  # fmt: skip
    (told,) = values("count", text, "-m", "gpt-4")
    assert (told["vocabulary"], told["tokens"]) == ("cl100k_base", count(WORDS * 50, "cl100k_base"))


def test_a_model_whose_vocabulary_is_not_public_is_estimated(text: str) -> None:
    (told,) = values("count", text, "-m", "claude-opus-5-5")
    assert (told["tier"], told["vocabulary"]) == ("estimate", "")
    assert told["error"] > 0
    done = run("count", text, "-m", "claude-opus-5-5", "--tier", "exact")
    assert done.exit_code == 1
    assert "no vocabulary of claude-opus-5-5 is public" in done.stderr
    assert "say --tier estimate or --tier provider" in done.stderr


def test_what_is_piped_in_is_counted() -> None:
    done = run("count", "-", "--tier", "estimate", input=WORDS)
    assert done.exit_code == 0
    assert done.stdout.startswith("about ")
    assert "by estimate, ± " in done.stdout
    assert run("count", "-", input="").stdout.startswith("0 tokens")


def test_a_person_reads_a_sentence(text: str) -> None:
    done = run("count", text, "-m", "gpt-4o")
    assert "tokens for gpt-4o exactly, by o200k_base\n" in done.stdout
    assert "text of 3.2 kB · 0.6% of a window of 128,000" in done.stdout


@pytest.mark.parametrize("model", ["claude-opus-5-5", "gpt-4o", "sonet", "gemini-3.1-pro-preview"])
def test_it_fits_a_terminal(tmp_path: Path, model: str) -> None:
    (tmp_path / "long").write_text(WORDS * 50_000, "utf-8")
    shown = run("count", str(tmp_path / "long"), "-m", model, "--tier", "estimate").stdout
    assert max(map(len, shown.splitlines()[:2])) <= 80


def test_a_model_that_nobody_knows_is_told_with_what_is_assumed(text: str) -> None:
    told = " ".join(run("count", text, "-m", "sonet").stdout.split())
    assert "Nobody here knows the model sonet: assumed are a window of 32,768 tokens" in told
    assert "Did you mean claude-sonnet-" in told
    (value,) = values("count", text, "-m", "sonet")
    assert value["nearest"][0].startswith("claude-sonnet-")
    assert "window" in value["assumed"]
    assert "Nobody" not in run("count", text, "-m", "gpt-4o").stdout


def test_pictures_and_documents_are_counted_by_their_formula(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(PNG)
    (told,) = values("count", str(tmp_path / "p.png"), "-m", "gpt-4o")
    assert (told["tokens"], told["kind"], told["tier"]) == (765, "picture", "estimate")
    (tmp_path / "d.pdf").write_bytes(b"%PDF-1.4 <</Type /Page>> <</Type /Page>>")
    (told,) = values("count", str(tmp_path / "d.pdf"), "-m", "gemini-2.5-pro")
    assert (told["tokens"], told["kind"]) == (2 * 258, "document")


@pytest.mark.parametrize("data", [b"\x7fELF\0\0\0\1", b"PK\3\4\0\0", b"\0"])
def test_what_is_no_text_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    done = run("count", str(tmp_path / "x"))
    assert done.exit_code == 1
    assert "this is no text: it holds NUL bytes" in done.stderr


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    done = run("count", str(tmp_path / "none"))
    assert done.exit_code == 1
    assert "cannot be read: No such file" in done.stderr


def test_bytes_that_are_no_utf8_are_counted_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("café olé ".encode("latin-1") * 100)
    (told,) = values("count", str(tmp_path / "latin"))
    assert told["tokens"] > 100


def test_characters_split_between_chunks_stay_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["holdfast.cli.usage.count"], "CHUNK", 5)
    (tmp_path / "t").write_text("日志保存了每一个字。" * 9, "utf-8")
    (told,) = values("count", str(tmp_path / "t"))
    assert told["tokens"] == count("日志保存了每一个字。" * 9, "o200k_base")


def test_the_provider_can_be_asked(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictServer(count=lambda request: 777) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url("anthropic"))
        (told,) = values("count", text, "-m", "claude-opus-4-6", "--tier", "provider")
        assert (told["tokens"], told["tier"], told["error"]) == (777, "provider", 0)


def test_without_a_key_it_says_which_one_is_missing(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = run("count", text, "-m", "gpt-5", "--tier", "provider")
    assert done.exit_code == 1
    assert "set OPENAI_API_KEY" in done.stderr
    done = run("count", text, "-m", "acme-ultra", "--tier", "provider")
    assert "no endpoint of ''" in done.stderr
