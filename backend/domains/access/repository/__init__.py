"""The tables of API keys, users and their roles, by access pattern.

Here stands what every function loads; the rest is imported from its own module.
"""

from backend.domains.access.repository.keys import (
    ApiKeyExistsError,
    ApiKeyNotFoundError,
    ApiKeyRepository,
    ApiKeyRevisionError,
)
from backend.domains.access.repository.people import UserRoleRepository

__all__ = [
    "ApiKeyExistsError",
    "ApiKeyNotFoundError",
    "ApiKeyRepository",
    "ApiKeyRevisionError",
    "UserRoleRepository",
]
