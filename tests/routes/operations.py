"""Routes of jobs, the audit trail, search, the search indexes, failures and queues."""

from collections.abc import Mapping
from typing import Any

from backend.spec import routes
from tests.routes import contents
from tests.routes.model import ID, OF_ASSETS, OWN, Case, Request, Rows, Target, fixed, in_path
from tests.routes.needs import allow_all, check_asset
from tests.routes.rows import make_audit, make_failures, under
from tests.routes.rows_on_assets import make_job
from tests.unit.domains.access.matrix.seeding import job_of, job_of_user
from tests.unit.domains.access.matrix.world import Question

_OF_MUSEUM = {"databaseId": "museum"}


def _on_job(ended: str = "queued") -> Request:
    return lambda target: Question({"jobId": job_of(target.state, ended)})


def _search(target: Target) -> Question:
    body = {"includeArchived": target.state == "archived"}
    return Question({}, body=body, shows=f"'{target.asset_id}'")


def _previews(target: Target) -> Question:
    return Question({}, body={"items": [target.asset]}, shows=f"'{target.asset_id}'")


def _of_entity(target: Target) -> Mapping[str, str]:
    return {"entity": target.world.large["entity"]}


def _audit_value(target: Target) -> Question:
    large = target.world.large
    path = {"valueHash": target.either(large["valueHash"], "a" * 64)}
    return Question(path, {**_of_entity(target), "at": large["at"]})


def _absent_failure(target: Target) -> str:
    return target.world.failure[:-1] + "0"


def _failure(target: Target) -> Question:
    return Question({}, {"key": target.either(target.world.failure, _absent_failure(target))})


def _replay(target: Target) -> Any:
    return Question({}, body={"keys": [_absent_failure(target)]})


CASES = (
    Case(routes.LIST_JOBS, lambda target: Question({},
         shows=f"'{job_of_user(target.user_id, target.state)}'"), OF_ASSETS, rows=Rows(make_job,
         "jobId", 300, under("items")), sees_archived=True,
         needs=allow_all, content=contents.ASSET),
    Case(routes.GET_JOB, _on_job(), OF_ASSETS, sees_archived=True, needs=check_asset),
    Case(routes.CANCEL_JOB, _on_job(), OF_ASSETS,
         audit=lambda target: f"job:{job_of(target.state, 'queued')}",
         sees_archived=True, needs=check_asset),
    Case(routes.RESUME_JOB, _on_job("failed"), OF_ASSETS,
         audit=lambda target: f"job:{job_of(target.state, 'failed')}",
         sees_archived=True, needs=check_asset),
    Case(routes.LIST_AUDIT_ENTRIES, lambda target: Question({}, _of_entity(target)), OWN,
         rows=Rows(make_audit, "at", 300)),
    Case(routes.GET_AUDIT_VALUE, _audit_value, ID),
    Case(routes.GET_SEARCH_MAPPINGS, fixed(), OWN, needs=allow_all),
    Case(routes.SEARCH, _search, OF_ASSETS, without_entry="reads",
         sees_archived=True, needs=allow_all, content=contents.SEARCH),
    Case(routes.SUGGEST, fixed(query={"q": "pump"}), OWN, needs=allow_all),
    Case(routes.LIST_PREVIEWS, _previews, OF_ASSETS, without_entry="reads",
         needs=allow_all, content=contents.PREVIEWS),
    Case(routes.SEARCH_SIMPLE, _search, OF_ASSETS, without_entry="reads", sees_archived=True,
         needs=allow_all, content=contents.SEARCH),
    Case(routes.GET_SEARCH_CONSISTENCY, fixed(), OWN),
    Case(routes.CHECK_SEARCH_CONSISTENCY, fixed(), OWN, audit="search:indexes checkSearch"),
    Case(routes.REPAIR_SEARCH, fixed(_OF_MUSEUM), OWN, audit="search:indexes repairSearch"),
    Case(routes.REINDEX_SEARCH, fixed(), OWN, audit="search:indexes reindexSearch"),
    Case(routes.RENEW_FACTS, fixed(_OF_MUSEUM), OWN, audit="search:indexes renewFacts"),
    Case(routes.LIST_FAILURES, fixed(), OWN, rows=Rows(make_failures, "key", 300)),
    Case(routes.GET_FAILURE, _failure, ID),
    Case(routes.REPLAY_FAILURES, _replay, OWN, audit="failures:keys"),
    Case(routes.LIST_QUEUES, fixed(), OWN),
    Case(routes.REDRIVE_QUEUE, in_path("queueName", "Settle", "NoneSuch"), ID, "queue:Settle"),
)  # fmt: skip
