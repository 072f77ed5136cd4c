"""What access decides without reading anything.

Here stands what every function loads: of API keys. The rest is imported from its own module.
"""

from backend.domains.access.rules.keys import (
    PREFIX,
    Pepper,
    bearer_in,
    demand_valid,
    hash_key,
    is_expired,
    key_in,
    was_used_lately,
    with_prefix,
)

__all__ = [
    "PREFIX",
    "Pepper",
    "bearer_in",
    "demand_valid",
    "hash_key",
    "is_expired",
    "key_in",
    "was_used_lately",
    "with_prefix",
]
