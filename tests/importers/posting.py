"""Sends a request to a server that plays the providers."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from holdfast.testing import StrictServer

PATHS = {
    "anthropic": ("anthropic", "/v1/messages"),
    "openai-responses": ("openai", "/v1/responses"),
    "openai-chat": ("openai", "/v1/chat/completions"),
    "gemini": ("gemini", "/v1beta/models/gemini-3.1-pro:generateContent"),
}
HEADERS = {
    "x-api-key": "any",
    "anthropic-version": "2023-06-01",
    "authorization": "Bearer any",
    "x-goog-api-key": "any",
    "content-type": "application/json",
}


def post(server: StrictServer, format: str, body: dict[str, Any]) -> None:
    """Send a request; whether it was refused, the server knows."""
    provider, path = PATHS[format]
    place = urlsplit(server.url(provider))
    request = Request(f"http://{place.netloc}{path}", json.dumps(body).encode(), HEADERS)
    try:
        with urlopen(request) as answer:
            answer.read()
    except HTTPError as refusal:
        refusal.close()
