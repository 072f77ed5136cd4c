"""No function scans a table that grows with assets or files, because its grants do not allow it.

The local runtime decides each request by these grants, so journeys show it for the running product;
`tests/costs` counts the scans of each operation.
"""

from backend.spec.functions import FUNCTIONS
from backend.spec.tables import TABLES, access, assets, metadata, registry, workflows

REGISTRIES = {
    access.API_KEYS,
    access.CONSTRAINTS,
    access.ROLES,
    access.USER_ROLES,
    assets.DATABASES,
    metadata.METADATA_SCHEMAS,
    registry.ASSET_BUCKETS,
    registry.FEATURES,
    registry.TAGS,
    registry.TAG_TYPES,
    workflows.PIPELINES,
    workflows.WORKFLOWS,
}
"""Registries: people create their rows one by one."""


def scanned() -> dict[str, set[str]]:
    """The tables that may be scanned, each with the functions that may scan it."""
    found: dict[str, set[str]] = {}
    for function in FUNCTIONS:
        for table in function.tables:
            if "Scan" in function.uses[table]:
                found.setdefault(table.name, set()).add(function.name)
    return found


def test_only_registries_may_be_scanned() -> None:
    assert set(scanned()) == {table.name for table in REGISTRIES}


def test_a_table_that_is_scanned_declares_it() -> None:
    for table in TABLES:
        found = any("scan" in pattern or "registry" in pattern for pattern in table.access_patterns)
        assert found == (table in REGISTRIES), table.name
