"""The table of features, and the record of the page, by access pattern."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from backend.core.paging import all_items
from backend.core.tables import Tables
from backend.core.transactions import Delete, Put
from backend.domains.configuration.models import DeployedPage, Feature
from backend.spec.page import PAGE_KEY
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.registry import FEATURES

_KEY = FEATURES.partition_key.name
_PAGE = {RESERVATIONS.partition_key.name: PAGE_KEY}
_SCAN_PAGE = 1000  # rows of a request at most; DynamoDB ends a page after 1 MB


@dataclass(eq=False, repr=False)
class FeatureRepository:
    tables: Tables

    def list_all(self) -> list[str]:
        """Return the names of the enabled features, sorted."""
        rows = all_items(partial(self.tables.scan, FEATURES), _SCAN_PAGE)
        return sorted(Feature.model_validate(row).feature_name for row in rows)

    def put_all(self, names: Iterable[str]) -> None:
        """Write a row for each of the features."""
        rows = [Feature(feature_name=name).model_dump(by_alias=True) for name in names]
        # Without a condition: the rows consist only of their key, so nothing is overwritten.
        self.tables.put_many(FEATURES, rows)

    def delete_all(self, names: Iterable[str]) -> None:
        self.tables.delete_many(FEATURES, [{_KEY: name} for name in names])


@dataclass(eq=False, repr=False)
class PageRepository:
    tables: Tables

    def find(self) -> DeployedPage | None:
        row = self.tables.get(RESERVATIONS, _PAGE)
        return None if row is None else DeployedPage.model_validate(row)

    def put(self, page: DeployedPage) -> None:
        item = _PAGE | page.model_dump(by_alias=True, exclude_none=True)
        self.tables.write(Put(table=RESERVATIONS, item=item))

    def delete(self) -> None:
        self.tables.write(Delete(table=RESERVATIONS, key=_PAGE))
