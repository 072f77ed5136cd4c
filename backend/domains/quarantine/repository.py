"""Results of scans in the table of reservations, one item for each version that had a threat."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from backend.core.transactions import Put, Write, absent, equals
from backend.domains.quarantine.models import ScannedVersion, StoredResult
from backend.spec import keys
from backend.spec.tables.operations import RESERVATIONS

_KEY = RESERVATIONS.partition_key.name


@dataclass(eq=False, repr=False)
class QuarantineRepository:
    tables: Tables

    def results(self, versions: Iterable[ScannedVersion]) -> dict[ScannedVersion, StoredResult]:
        """Return the stored results of some versions; most have none."""
        by_key = {_key(version): version for version in versions}
        rows = self.tables.get_many([(RESERVATIONS, {_KEY: key}) for key in by_key])
        return {by_key[item[_KEY]]: StoredResult.model_validate(item) for _, item in rows}

    def replace(
        self,
        version: ScannedVersion,
        known: StoredResult | None,
        result: StoredResult,
        others: Iterable[Write],
    ) -> None:
        """Replace a version's result on the condition that it is unchanged, with other writes.

        Raises:
            UnavailableError: another result of the version was stored meanwhile; read again.
        """
        conditions = (
            (absent(_KEY),)
            if known is None
            else (equals("scannedAt", known.scanned_at), equals("scanStatus", known.scan_status))
        )
        item = {_KEY: _key(version), **result.model_dump(by_alias=True)}
        busy = UnavailableError(f"Another scan result of {version.key} is just stored")
        put = Put(table=RESERVATIONS, item=item, conditions=conditions, refused=busy)
        self.tables.transact([put, *others])


def _key(version: ScannedVersion) -> str:
    return keys.quarantine(version.bucket, version.version_id, version.key)
