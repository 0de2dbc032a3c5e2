"""Vectors from the weights that the package wordllama brings: a mean of 256 numbers for each token.

Its two files are read directly and the package itself is never imported: it would look for its
tokenizer on the network. Vectors are stored as bytes, one for each number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.errors import InvalidRequest

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENS = "tokenizers/l2_supercat_tokenizer_config.json"
MISSING = "search by meaning needs an extra: pip install 'holdfast[embeddings]'"
SCALE = 127
"""What 1.0 is stored as."""


class WordLlama:
    """The embedder: loaded once, in a third of a second."""

    name = "wordllama-256"

    def __init__(self) -> None:
        found = find_spec("wordllama")
        if found is None or not found.origin:
            raise InvalidRequest(MISSING)
        folder = Path(found.origin).parent
        try:
            import numpy
            from tokenizers import Tokenizer

            self._numpy: Any = numpy
            self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENS))
            self._rows: Any = _rows(numpy, (folder / WEIGHTS).read_bytes())
        except (ImportError, OSError) as error:
            raise InvalidRequest(f"{MISSING} ({error})") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text; one without any token is near to nothing."""
        safe = [text.encode("utf-8", "replace").decode() for text in texts]
        read = self._tokenizer.encode_batch(safe, add_special_tokens=False)
        return [self._vector(each.ids) for each in read]

    def alike(self, one: bytes, many: Sequence[bytes]) -> list[float]:
        """The cosine between one vector and each of the others."""
        if not many:
            return []
        np = self._numpy
        rows = np.frombuffer(b"".join(many), np.int8).reshape(len(many), -1).astype(np.float32)
        asked = np.frombuffer(one, np.int8).astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
        return (rows @ asked / np.maximum(lengths, 1.0)).tolist()

    def _vector(self, tokens: list[int]) -> bytes:
        np = self._numpy
        mean = self._rows[tokens].astype(np.float32).mean(0) if tokens else np.zeros(256)
        length = float(np.linalg.norm(mean)) or 1.0
        return np.round(mean / length * SCALE).astype(np.int8).tobytes()


def _rows(numpy: Any, data: bytes) -> Any:
    """The one table of a safetensors file: a heading in JSON, then its numbers."""
    size = int.from_bytes(data[:8], "little")
    (table,) = [each for name, each in json.loads(data[8 : 8 + size]).items() if name[:2] != "__"]
    first, last = table["data_offsets"]
    numbers = data[8 + size + first : 8 + size + last]
    return numpy.frombuffer(numbers, numpy.float16).reshape(table["shape"])
