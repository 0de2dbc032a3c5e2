"""Where a provider is: its base URL, used as it is given, and whether a key may go there.

Rule 1: a base URL means what it means to the provider's own SDK: paths are laid behind it.
        What it asks for besides, its query, goes along with every path.
Rule 2: a key goes nowhere in the clear, save to this machine or to a host that the user named.
Rule 3: without a key plain HTTP reaches this machine and the private network, and nothing else.
Rule 4: an address is told without what may be secret in it: names, passwords, queries.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from holdfast.errors import InvalidRequest

NEARBY: Final = (".local", ".lan", ".internal", ".home.arpa")
"""How the names of hosts end that no public server has."""


def base(url: str, *, key: bool, plain: Collection[str] = ()) -> str:
    """An address that requests may go to, with a key or without; `plain` are the user's hosts."""
    parts = _parts(url)
    host = (parts.hostname or "").lower()
    if not host or parts.scheme not in ("http", "https"):
        raise InvalidRequest(
            f"{shown(url)!r} is no address to send anything to; begin it with https://"
        )
    if parts.scheme == "http" and not (is_local(url) or host in plain):
        if key:
            raise InvalidRequest(
                f"a key would go to {shown(url)} in the clear; use https://, or set no key if it "
                f'wants none, or allow it with plain_http = ["{host}"] under [providers] in '
                "settings.toml"
            )
        if not is_private(url):
            raise InvalidRequest(
                f"what is said would go to {shown(url)} in the clear, over a public network; use "
                f'https://, or allow it with plain_http = ["{host}"] under [providers] in '
                "settings.toml"
            )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def query_of(url: str) -> str:
    """What of an address goes behind every path, as Azure's api-version does."""
    return _parts(url).query


def shown(url: str) -> str:
    """An address as it may be told."""
    parts = urlsplit(url.partition("?")[0].partition("#")[0])
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def host_of(url: str) -> str:
    """The host of an address; empty where it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    return host_of(url) in ("127.0.0.1", "::1", "localhost")


def is_private(url: str) -> bool:
    """Whether an address is on this machine or its own network, as far as its name tells."""
    host = host_of(url)
    try:
        return ip_address(host).is_private
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(NEARBY))


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read only now, and only now refused
    except ValueError as wrong:
        raise InvalidRequest(
            f"an address cannot be read ({wrong}); write it like https://host"
        ) from None
    return parts
