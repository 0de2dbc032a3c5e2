"""Reads a model's limit out of the error with which it refused a prompt that was too long."""

from __future__ import annotations

import re
from typing import Final

LEAST, MOST = 256, 100_000_000
"""What can be a limit at all."""

_NUMBER = r"(\d[\d,_]*)"
_PATTERNS: Final = tuple(
    re.compile(pattern.replace("NUMBER", _NUMBER), re.IGNORECASE | re.DOTALL)
    for pattern in (
        # Anthropic: prompt is too long: 213456 tokens > 200000 maximum
        r"tokens?\s*>\s*NUMBER\s*(?:tokens?\s*)?maximum",
        # Anthropic: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000
        r"exceeds? (?:the )?context limit:\s*[\d,]+\s*\+\s*[\d,]+\s*>\s*NUMBER",
        # OpenAI, vLLM, DeepSeek: this model's maximum context length is 8192 tokens
        r"max(?:imum)?[ _](?:model |sequence )?(?:context )?(?:length|window)(?: is| of|:)?"
        r"\s*(?:only )?NUMBER",
        # Gemini: the input token count (1200000) exceeds the maximum … tokens allowed (1048576)
        r"maximum number of (?:input )?tokens allowed\s*\(?\s*NUMBER",
        # llama.cpp: {"n_prompt_tokens": 1407, "n_ctx": 256}; Ollama: … limit=8192 prompt=18538
        r"\bn_ctx\w*\W{1,5}NUMBER",
        r"truncating input prompt\W+limit=NUMBER",
        # llama.cpp: request (1407 tokens) exceeds the available context size (256 tokens)
        r"context (?:size|length|window)(?: limit)?(?: of| is|:)?(?: only)?\s*\(?NUMBER\s*tokens",
        # Mistral: … too large for model with 32768 maximum context length
        r"with NUMBER (?:tokens? )?max(?:imum)? context",
        # Mistral, Groq, xAI, TGI: … limit of 32768 tokens; must be <= 4096
        r"(?:limit|maximum)(?: prompt length| context length)?(?: is| of|:)\s*NUMBER(?: tokens)?",
        r"`?inputs`?.{0,60}must (?:have less than|be ?<=) NUMBER",
        # Bedrock: expected maxLength / too many tokens … max 8192
        r"max(?:imum)?(?: input)? tokens?\W{1,5}NUMBER",
    )
)


def limit_in(message: str) -> int | None:
    """The number of tokens that an error says may be sent at most; None where it names none."""
    for pattern in _PATTERNS:
        if found := pattern.search(message[:20_000]):
            number = int(re.sub("[,_]", "", found[1]))
            if LEAST <= number <= MOST:
                return number
    return None
