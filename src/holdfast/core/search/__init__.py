"""Search: words, terms, ranking, facets and searchable text; nearest names."""
