"""Files are counted as they stream by: text, pictures and PDFs."""

import struct
import zlib
from collections.abc import Iterable

import pytest

from holdfast.core.tokens.estimate import estimate
from holdfast.engine.usage.file_tokens import Measured, decoded, measure, vocabulary
from holdfast.errors import InvalidRequest
from holdfast.model.profile import Profile

BINARY = 8_192
"""What is promised, in numbers: these tests stand at its edges."""

M = Profile(name="m", window=100_000)
TEXT = "Größe 😀 und mehr. " * 50


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 560, 280, 8, 2, 0, 0, 0))


def counted(chunks: Iterable[bytes], profile: Profile = M) -> Measured:
    return measure(chunks, profile, "estimate")


@pytest.mark.parametrize("size", [1, 3, 7, 5_000])
def test_characters_may_be_split_among_chunks(size: int) -> None:
    data = TEXT.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert "".join(decoded(pieces)) == TEXT
    assert "".join(decoded([*pieces, b"\xf0\x9f"])) == TEXT + "\ufffd"


def test_text_is_estimated_and_its_bytes_are_told() -> None:
    found = counted([TEXT.encode()])
    assert (found.kind, found.bytes) == ("text", len(TEXT.encode()))
    assert abs(found.count.tokens - estimate(TEXT)) <= estimate(TEXT) // 10
    assert found.count.tier == "estimate"
    assert counted([]).bytes == counted([]).count.tokens == 0


def test_a_model_whose_tokens_are_smaller_takes_more() -> None:
    more = counted([TEXT.encode()], Profile(name="m", ratio=1.5)).count.tokens
    assert more > counted([TEXT.encode()]).count.tokens


def test_a_picture_takes_what_its_size_says() -> None:
    found = counted([PNG, b"rest" * 10])
    assert (found.kind, found.bytes) == ("picture", len(PNG) + 40)
    assert found.count.tokens == (560 // 28) * (280 // 28)


def test_a_document_takes_what_its_pages_do() -> None:
    body = b"%PDF-1.4\n" + b"1 0 obj << /Type /Page >> endobj\n" * 2
    found = counted([body])
    assert (found.kind, found.bytes) == ("document", len(body))
    assert found.count.tokens >= M.page_tokens


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="NUL"):
        counted([b"a" * (BINARY - 1) + b"\0"])
    assert counted([b"a" * BINARY + b"\0"]).kind == "text"


def test_the_vocabulary_is_the_models_own_or_the_newest_where_none_is_named() -> None:
    assert vocabulary(Profile(name="")) == "o200k_base"
    assert vocabulary(Profile(name="g", tokenizer="cl100k_base")) == "cl100k_base"
    with pytest.raises(InvalidRequest, match="no vocabulary of m is public"):
        vocabulary(M)


def test_a_count_by_its_vocabulary_is_exact() -> None:
    found = measure([b"hello ", b"world"], Profile(name="g", tokenizer="o200k_base"), "exact")
    assert found.count.tokens == 2
    assert (found.count.tier, found.bytes) == ("exact", 11)
