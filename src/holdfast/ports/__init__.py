"""Every seam in one place: what the engine asks of the world.

A port method is `async def`, so that one engine serves both doors. An adapter that says
`blocking = True` never suspends: the blocking door runs it in place, the async door in a thread.
"""

from holdfast.ports.context import Catalogue, Clock, Embedder, Ids, Source, Telemetry
from holdfast.ports.importing import Importer, Imports, TranscriptFile
from holdfast.ports.provider import Codec, Counter, Decoder, Provider, ResponseStream, Transport
from holdfast.ports.store import (
    Blobs,
    Calls,
    Counts,
    FileHistory,
    Jobs,
    Log,
    Maintenance,
    Notes,
    Search,
    Sessions,
    Snapshots,
    Store,
)
from holdfast.ports.workspace import Directory

__all__ = [
    "Blobs",
    "Calls",
    "Catalogue",
    "Clock",
    "Codec",
    "Counter",
    "Counts",
    "Decoder",
    "Directory",
    "Embedder",
    "FileHistory",
    "Ids",
    "Importer",
    "Imports",
    "Jobs",
    "Log",
    "Maintenance",
    "Notes",
    "Provider",
    "ResponseStream",
    "Search",
    "Sessions",
    "Snapshots",
    "Source",
    "Store",
    "Telemetry",
    "TranscriptFile",
    "Transport",
]  # fmt: skip
