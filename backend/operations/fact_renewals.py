"""Renewals of facts, for administrators."""

from dataclasses import dataclass

from backend.core.authorization import Authorization, Secured, require
from backend.core.identity import Identity
from backend.domains.databases.service import DatabaseService
from backend.domains.jobs.models import Job
from backend.operations.search_models import RenewFactsBody
from backend.search.maintenance.work import SearchWork
from backend.spec.jobs import RENEW_FACTS


@dataclass(eq=False, repr=False)
class FactRenewals:
    """Starts jobs that renew facts. Search need not be deployed."""

    work: SearchWork
    databases: DatabaseService
    authorization: Authorization

    def renew_facts(self, caller: Identity, body: RenewFactsBody) -> tuple[Job, bool]:
        """Start a renewal, unless one is running; return whether it was started.

        Raises:
            DatabaseNotFoundError: the database does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may not administer the indexes.
        """
        # What is derived from files has one permission: documents and facts.
        require(self.authorization, caller, "POST", Secured("searchIndex"))
        if body.database_id is not None:
            self.databases.get_database(caller, body.database_id)
        wanted = {"databaseId": body.database_id, "formats": body.formats}
        parameters = {name: value for name, value in wanted.items() if value is not None}
        return self.work.start(caller, RENEW_FACTS, parameters)
