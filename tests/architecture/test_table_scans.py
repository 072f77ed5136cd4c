"""Nothing scans a table that grows with assets or files: no function's grants would let it.

The local runtime decides each request by these grants, so the journeys hold it for what runs;
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
"""What people enter one by one."""


def scanned() -> dict[str, set[str]]:
    """The tables that may be scanned, each with the functions that may."""
    found: dict[str, set[str]] = {}
    for function in FUNCTIONS:
        for table in function.tables:
            if "Scan" in function.uses[table]:
                found.setdefault(table.name, set()).add(function.name)
    return found


def test_only_registries_may_be_scanned() -> None:
    assert set(scanned()) == {table.name for table in REGISTRIES}


def test_a_table_that_is_scanned_says_so() -> None:
    for table in TABLES:
        told = any("scan" in pattern or "registry" in pattern for pattern in table.access_patterns)
        assert told == (table in REGISTRIES), table.name
