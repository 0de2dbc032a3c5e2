"""What a model may be called: whose it is, who hosts it, and its bare name.

Rule 1: a prefix that names a host or a maker is taken off; what is left is the model's own name.
Rule 2: dates, -latest and a host's own suffixes are no part of the bare name.
Rule 3: reading a name never fails; a name that says nothing is its own bare name.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HOSTS: Final = {
    "anthropic": "anthropic",
    "openai": "openai",
    "google": "google",
    "gemini": "google",
    "vertex": "google",
    "vertex_ai": "google",
    "google-vertex": "google",
    "bedrock": "aws",
    "amazon-bedrock": "aws",
    "aws": "aws",
    "azure": "azure",
    "azure_ai": "azure",
    "openrouter": "openrouter",
    "xai": "x-ai",
    "x-ai": "x-ai",
    "mistral": "mistral",
    "mistralai": "mistral",
    "deepseek": "deepseek",
    "groq": "groq",
    "cerebras": "cerebras",
    "together": "together",
    "together_ai": "together",
    "fireworks": "fireworks",
    "fireworks_ai": "fireworks",
    "github_copilot": "github-copilot",
    "github-copilot": "github-copilot",
    "moonshotai": "moonshotai",
    "cohere": "cohere",
    "perplexity": "perplexity",
}
"""Prefixes before a slash, and the provider each of them stands for."""

LOCAL: Final = frozenset(
    {"ollama", "ollama_chat", "lmstudio", "lm_studio", "llamacpp", "llama.cpp", "local", "vllm"}
)
"""Prefixes of models that somebody runs on their own machine."""

_MAKERS = "anthropic|meta|amazon|mistral|cohere|ai21|deepseek|openai|qwen|google|moonshotai|minimax"
_BEDROCK: Final = re.compile(rf"^(?:[a-z-]+\.)?({_MAKERS})\.([a-z0-9.-]+?)(?:-v\d+)?(?::\d+)*$")
_SUFFIX: Final = re.compile(
    r"(?:\[1m\]|:(?:free|beta|thinking|extended|nitro|online|floor|exacto|batch)|-v\d+:\d+"
    r"|@(?:\d{8}|default|latest)|-20\d{6}|-20\d\d-\d\d-\d\d)$"
)
_VERSION: Final = re.compile(r"(?<=\d)\.(?=\d)")


class Reading(NamedTuple):
    """One way to read a name."""

    host: str
    """Who serves it; empty where the name does not say."""
    name: str
    """What it is called there."""
    bare: str
    """The model's own name."""

    @property
    def free(self) -> bool:
        """Whether its host asks nothing for it, as far as the name tells."""
        return self.name.endswith((":free", "-free"))

    @property
    def long(self) -> bool:
        """Whether it is asked for with a window of a million tokens."""
        return "[1m]" in self.name

    @property
    def local(self) -> bool:
        """Whether somebody runs it on their own machine, as far as the name tells."""
        return self.host in LOCAL


def reading(model: str) -> Reading:
    """Host, name there and bare name of a model, whatever it is called."""
    name = model.strip().lower()
    if name.startswith("arn:"):
        name = f"bedrock/{name.rpartition('/')[2]}"
    if "publishers/" in name and "/models/" in name:
        name = f"vertex/{name.rpartition('/models/')[2]}"
    name = f"google/{name[7:]}" if name.startswith("models/") else name
    head, slash, rest = name.partition("/")
    if slash and head in LOCAL:
        return Reading(head, rest, bare(rest))
    if slash and head in HOSTS:
        host = "aws" if HOSTS[head] == "aws" or _BEDROCK.match(rest) else HOSTS[head]
        return Reading(host, rest, bare(rest))
    if _BEDROCK.match(name):
        return Reading("aws", name, bare(name))
    if slash:
        return Reading("", name, bare(name))
    tagged = ":" in name and not name.startswith("ft:") and _SUFFIX.search(name) is None
    return Reading("ollama" if tagged else "", name, bare(name))


def bare(name: str) -> str:
    """The model's own name: no maker before it, no date behind it, dashes in Claude's versions."""
    hosted = _BEDROCK.match(name)
    name = hosted[2] if hosted else name.rpartition("/")[2]
    while (shorter := _SUFFIX.sub("", name)) != name and shorter:
        name = shorter
    if any(map(str.isdigit, name)):  # gemini-pro-latest is a name of its own
        name = name.removesuffix("-latest")
    return _VERSION.sub("-", name) if name.startswith("claude") else name
