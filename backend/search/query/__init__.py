"""What users search with: queries, their filters and words, hits, facets and suggestions."""
