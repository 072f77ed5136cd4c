"""A hash of all declarations that bootstrap uses: CloudFormation runs it again after a change."""

import hashlib
import json
from dataclasses import asdict
from typing import cast

from backend.spec.buckets import BUCKETS
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.secrets import SECRETS
from backend.spec.tables import TABLES


def declarations_hash(values: dict[str, str]) -> str:
    """Return the hash of the declarations and of `values`, the settings that bootstrap receives.

    It is the same in every process: sets, whose order differs, are sorted.
    """
    facts = {
        "tables": [asdict(table) for table in TABLES],
        "buckets": [asdict(bucket) for bucket in BUCKETS],
        "secrets": [asdict(secret) for secret in SECRETS],
        "indexes": [
            {"alias": index.alias, "mapping": index.mapping, "settings": index.settings}
            for index in SEARCH_INDEXES
        ],
        "settings": values,
    }
    text = json.dumps(facts, sort_keys=True, default=_sorted_set)
    return hashlib.sha256(text.encode()).hexdigest()


def _sorted_set(value: object) -> list[str]:
    if isinstance(value, frozenset):
        return sorted(str(member) for member in cast("frozenset[object]", value))
    raise TypeError(f"{type(value).__name__} has no place in a declaration")
