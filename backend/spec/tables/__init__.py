"""Every DynamoDB table of the product, in one module per family."""

from backend.spec.tables import access, assets, metadata, operations, registry, workflows
from backend.spec.tables.model import Index, Table

__all__ = ["TABLES", "Index", "Table"]

TABLES: tuple[Table, ...] = (
    *assets.TABLES,
    *metadata.TABLES,
    *workflows.TABLES,
    *access.TABLES,
    *registry.TABLES,
    *operations.TABLES,
)
