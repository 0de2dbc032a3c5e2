"""A summary without a model: what was said, picked by what later turns are likely to need."""

from holdfast.core.extract.digest import Digest
from holdfast.core.extract.extract import HEADING, INDEX, digested, extract, listing

__all__ = ["HEADING", "INDEX", "Digest", "digested", "extract", "listing"]
