"""The HTTP layer: routing with Powertools, identity, tier 1, bodies, errors."""
