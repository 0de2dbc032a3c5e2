"""Every seam in one place: what the engine asks of the world.

A port method is `async def`, so that one engine serves both doors. An adapter that says
`blocking = True` never suspends: the blocking door runs it in place, the async door in a thread.
"""

from holdfast.ports.context import Catalogue, Clock, Embedder, Ids, Source, Telemetry
from holdfast.ports.importing import Importer, Imports, Material
from holdfast.ports.provider import Codec, Counter, Decoder, Flow, Provider, Transport
from holdfast.ports.store import (
    Blobs,
    Calls,
    Care,
    Counts,
    Jobs,
    Log,
    Search,
    Sessions,
    Snapshots,
    Store,
)

__all__ = [
    "Blobs", "Calls", "Care", "Catalogue", "Clock", "Codec", "Counter", "Counts", "Decoder",
    "Embedder", "Flow", "Ids", "Importer", "Imports", "Jobs", "Log", "Material", "Provider",
    "Search", "Sessions", "Snapshots", "Source", "Store", "Telemetry", "Transport",
]  # fmt: skip
