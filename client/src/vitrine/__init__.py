"""The Python client of Vitrine: `Vitrine` is the SDK, `vitrine` on the command line its user."""

from vitrine.client import Vitrine
from vitrine.errors import (
    ApiError,
    ConfigurationError,
    ConflictError,
    FieldError,
    GoneError,
    IntegrityError,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    ProtocolError,
    RangeError,
    RateLimitedError,
    RevisionConflictError,
    ServerError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnreachableError,
    UnsafePathError,
    VitrineError,
)
from vitrine.models import EntityType, Job, Metadata, MetadataType
from vitrine.resources.jobs import JobUnfinishedError
from vitrine.resources.metadata import MetadataOwner
from vitrine.resources.search import SearchQuery, facets
from vitrine.retry import RetryPolicy

__all__ = [
    "ApiError",
    "ConfigurationError",
    "ConflictError",
    "EntityType",
    "FieldError",
    "GoneError",
    "IntegrityError",
    "InvalidInputError",
    "Job",
    "JobUnfinishedError",
    "Metadata",
    "MetadataOwner",
    "MetadataType",
    "NotFoundError",
    "PermissionDeniedError",
    "ProtocolError",
    "RangeError",
    "RateLimitedError",
    "RetryPolicy",
    "RevisionConflictError",
    "SearchQuery",
    "ServerError",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnreachableError",
    "UnsafePathError",
    "Vitrine",
    "VitrineError",
    "facets",
]
