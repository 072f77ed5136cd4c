"""The routes for the administration of search indexes and facts."""

from backend.domains.jobs.models import Job
from backend.http.call import Call
from backend.http.router import Router
from backend.operations.fact_renewals import FactRenewals
from backend.operations.search_indexes import SearchIndexService
from backend.operations.search_models import (
    ConsistencyReply,
    RenewFactsBody,
    RepairBody,
    WorkReply,
)
from backend.spec import routes


def build_router(service: SearchIndexService, renewals: FactRenewals) -> Router:
    """Bind the routes to the services."""
    router = Router()

    @router.bind(routes.GET_SEARCH_CONSISTENCY)
    def get_consistency(call: Call) -> ConsistencyReply:
        return service.get_consistency(call.caller)

    @router.bind(routes.CHECK_SEARCH_CONSISTENCY)
    def check_consistency(call: Call) -> WorkReply:
        return _work(*service.check_consistency(call.caller))

    @router.bind(routes.REPAIR_SEARCH)
    def repair(call: Call, body: RepairBody) -> WorkReply:
        return _work(*service.repair(call.caller, body))

    @router.bind(routes.REINDEX_SEARCH)
    def reindex(call: Call) -> WorkReply:
        return _work(*service.reindex(call.caller))

    @router.bind(routes.RENEW_FACTS)
    def renew_facts(call: Call, body: RenewFactsBody) -> WorkReply:
        return _work(*renewals.renew_facts(call.caller, body))

    return router


def _work(job: Job, started: bool) -> WorkReply:
    fact = "has started" if started else "is already running"
    message = f"The job {fact}; it reports its progress"
    return WorkReply(job_id=job.job_id, started=started, message=message)
