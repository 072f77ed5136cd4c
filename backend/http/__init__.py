"""What HTTP is to this product: routing over Powertools, identity, tier 1, bodies, errors."""
