"""The step of the job that removes a deleted tag from the assets that have it.

The job walks the databases twice, one page of one partition per step. The second walk starts after
the settle delay, which is longer than any request: it finds the assets written by requests that had
read the tag before it was deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.names import GLOBAL
from backend.core.paging import PageRequest
from backend.domains.assets.errors import AssetRevisionError
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import AssetRepository
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.service import DatabaseService
from backend.domains.jobs.models import Job, Progress
from backend.spec.keys import active, archived

if TYPE_CHECKING:
    from backend.domains.tags.service import TagService

# Assets that one step of the withdrawal of a tag reads; only those with the tag are written.
PAGE = 200
_ATTEMPTS = 8  # of a change that conflicts with edits of the asset


@dataclass(eq=False, repr=False)
class TagWithdrawal:
    """The step of a job of the kind `withdrawTag`.

    Its cursor contains the last `database` of the registry, the `partitions` of it that are left,
    the key of the last asset in the first of them (`after`), and whether this is the `second` walk.
    """

    assets: AssetRepository
    databases: DatabaseService
    tags: "TagService"
    audit: AuditService
    clock: Clock
    settle_delay_seconds: int

    def __call__(self, job: Job) -> Progress:
        """Remove the tag from the assets of one page.

        Raises:
            UnavailableError: a service is unavailable, or an asset is changed concurrently at every
                attempt.
        """
        tag, scope = str(job.parameters["tagName"]), job.database_id
        if self.tags.exists(tag, scope or GLOBAL):
            fact = f"Tag {tag} exists, or was created again, so assets keep it"
            return Progress(finished=True, problems=(fact,))
        cursor = job.cursor
        partitions: list[str] = list(cursor.get("partitions", []))
        if not partitions:
            return self._next_database(cursor, scope)
        if scope is None and self.tags.exists(tag, active(partitions[0])):
            return Progress({**cursor, "partitions": []})  # its assets have the database's own tag
        request = PageRequest(PAGE, cursor.get("after"))
        page = self.assets.list_in_partition(partitions[0], request)
        caller = Identity(job.created_by)
        carrying = [asset for asset in page.items if tag in asset.tags]
        changed = sum(self._withdraw(caller, tag, asset) for asset in carrying)
        following = {name: value for name, value in cursor.items() if name != "after"}
        if page.after is not None:
            following["after"] = dict(page.after)
        else:
            following["partitions"] = partitions[1:]
        return Progress(following, items=changed)

    def _next_database(self, cursor: Mapping[str, Any], scope: str | None) -> Progress:
        position = cursor.get("database")
        if scope is None:
            page = self.databases.registry(PageRequest(1, position))
            walked = [(row.database_id, self.databases.position_of(row)) for row in page.items]
        else:
            walked = [] if position else [(scope, {"databaseId": scope})]
        for database_id, at in walked:
            own = active(database_id)
            return Progress({**cursor, "database": at, "partitions": [own, archived(own)]})
        if cursor.get("second"):
            return Progress(finished=True)
        return Progress({"second": True}, wait_seconds=self.settle_delay_seconds)

    def _withdraw(self, caller: Identity, tag: str, asset: Asset) -> bool:
        """Remove the tag from an asset; return False if it no longer has it."""
        current: Asset | None = asset
        for _ in range(_ATTEMPTS):  # by hand: the first attempt needs no read
            if current is None or tag not in current.tags:
                return False
            now = self.clock()
            tags = [name for name in current.tags if name != tag]
            entry = self.audit.entry(
                caller,
                "delete_tag",
                audit_entity("asset", current.database_id, current.asset_id),
                before={"tags": current.tags},
                after={"tags": tags},
                at=now,
            )
            changes = {"tags": tags, "updatedAt": iso(now)}
            changed = current.model_copy(update={"tags": tags})
            row = self.assets.edit_write(changed, by=caller.user_id, at=iso(now))
            try:
                self.assets.change(current, changes, entry, row, counters=("inheritedRevision",))
            except AssetRevisionError:
                current = self.assets.get(asset.database_id, asset.asset_id, in_archive=True)
            else:
                return True
        raise UnavailableError(
            f"Asset {asset.asset_id} is being changed by other requests; try again"
        )
