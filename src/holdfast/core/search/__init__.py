"""Search: words, facets and searchable text; nearest names."""
