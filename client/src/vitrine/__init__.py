"""The Python client of Vitrine: `Vitrine` is the SDK, `vitrine` the command line built on it."""

from vitrine.client import Vitrine
from vitrine.errors import (
    ApiError,
    ConfigurationError,
    ConflictError,
    FieldError,
    GoneError,
    IntegrityError,
    InvalidInputError,
    InvalidNameError,
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
from vitrine.metadata_filters import GeoSearch, MetadataFilter
from vitrine.models import Job, Metadata, MetadataType
from vitrine.resources.exports import ExportFlags
from vitrine.resources.jobs import JobUnfinishedError
from vitrine.resources.links import LinkMetadataOwner
from vitrine.resources.metadata import MetadataOwner
from vitrine.resources.search import SearchQuery, facets
from vitrine.retry import RetryPolicy
from vitrine.schema_models import MetadataSchema, SchemaEntity, SchemaField, SchemaFields
from vitrine.search_models import EntityType
from vitrine.workflow_models import Pipeline, PipelineSettings, Workflow, WorkflowPipeline

__all__ = [
    "ApiError",
    "ConfigurationError",
    "ConflictError",
    "EntityType",
    "ExportFlags",
    "FieldError",
    "GeoSearch",
    "GoneError",
    "IntegrityError",
    "InvalidInputError",
    "InvalidNameError",
    "Job",
    "JobUnfinishedError",
    "LinkMetadataOwner",
    "Metadata",
    "MetadataFilter",
    "MetadataOwner",
    "MetadataSchema",
    "MetadataType",
    "NotFoundError",
    "PermissionDeniedError",
    "Pipeline",
    "PipelineSettings",
    "ProtocolError",
    "RangeError",
    "RateLimitedError",
    "RetryPolicy",
    "RevisionConflictError",
    "SchemaEntity",
    "SchemaField",
    "SchemaFields",
    "SearchQuery",
    "ServerError",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnreachableError",
    "UnsafePathError",
    "Vitrine",
    "VitrineError",
    "Workflow",
    "WorkflowPipeline",
    "facets",
]
