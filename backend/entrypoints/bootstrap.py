"""CloudFormation's custom resource that sets up a deployment before its first request.

It runs again whenever a declaration changes, so every step may be repeated and keeps existing
resources.

The administrator's key: Secrets Manager generates a secret without punctuation. The first run puts
`vams_` before it and stores it back, so from then on the secret holds the key as clients send it.
The prefix is known only here. A secret that is changed later becomes the key at the next run.
"""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes import CloudFormationCustomResourceEvent
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from backend.aws import clients
from backend.aws.clients import OldSdkError
from backend.aws.cloudformation import ResourceAnswer, respond
from backend.aws.errors import DeniedError, denials_named
from backend.core.errors import UnavailableError, VitrineError
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.configuration.models import DeployedPage
from backend.domains.configuration.repository import FeatureRepository, PageRepository
from backend.domains.configuration.service import Features
from backend.domains.identity.rules.keys import with_prefix
from backend.entrypoints import ready
from backend.entrypoints.account_check import check_account
from backend.entrypoints.wiring.bootstrap import (
    administrator_rules,
    administrators,
    shipped_pipelines,
    shipped_workflows,
)
from backend.entrypoints.wiring.buckets import buckets
from backend.entrypoints.wiring.context import Context
from backend.search.indexing.indexes import MappingDiffersError, ensure_indexes
from backend.search.indexing.state import SearchState
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.functions.operations import BOOTSTRAP
from backend.spec.key_layouts import DEFAULT_BASE_PREFIX
from backend.spec.page import PAGE_RECORD
from backend.spec.secrets import ADMIN_API_KEY
from backend.spec.settings import ADMIN_USER_ID, OIDC_ISSUER, PROCESSING

PHYSICAL_ID = "vitrine-bootstrap"
PAGE_ID = "vitrine-page"
_STEP_SECONDS = 2
# Time in which an engine must respond for the first time. The name of a new search domain takes
# time to resolve everywhere.
_PATIENCE_SECONDS = 120

# Time for which a denial is retried. IAM is eventually consistent, and the role is seconds old.
_DENIED_SECONDS = 60

_logger = Logger()


@ready
def handler(event: dict[str, Any], context: Any) -> None:
    """Do what CloudFormation requests, and respond in every case."""
    _answer(event, context, lambda: Context(BOOTSTRAP))


def _answer(event: dict[str, Any], context: Any, wire: Callable[[], Context]) -> None:
    request = CloudFormationCustomResourceEvent(event)
    of_page = request.resource_type == PAGE_RECORD
    physical_id = PAGE_ID if of_page else PHYSICAL_ID
    try:
        # The created resources contain data, so Delete keeps them; the stacks retain them too.
        data: dict[str, str] = {}
        if of_page:
            data |= _with_retries(lambda: record_page(request, wire()))
        elif request.request_type != "Delete":
            data |= _with_retries(lambda: set_up(wire()))
            # Afterwards, when IAM knows the role. Functions that need the instances are deployed
            # later.
            data["Account"] = check_account(request.resource_properties, clients.lambda_account)
    except VitrineError as error:
        _logger.exception("bootstrap failed")
        respond(request, _failure(physical_id, error.message))
    except OldSdkError as error:
        _logger.exception("bootstrap failed")
        respond(request, _failure(physical_id, str(error)))
    except DeniedError as error:
        _logger.exception("bootstrap failed")
        reason = f"{error} (retried for {_DENIED_SECONDS} seconds)"
        respond(request, _failure(physical_id, reason))
    except Exception as error:
        where = getattr(context, "log_stream_name", "the function's log")
        reason = f"unexpected {type(error).__name__}, see {where}"
        respond(request, _failure(physical_id, reason))
        raise
    else:
        respond(request, ResourceAnswer(status="SUCCESS", physical_id=physical_id, data=data))


def set_up(context: Context) -> dict[str, str]:
    """Create everything that is missing; return the attributes for CloudFormation.

    Raises:
        UnavailableError: a service does not respond; the steps before are done.
    """
    settings = context.settings
    own = settings.bucket(ASSET_BUCKET)
    bucket = buckets(context).register_bucket(own, DEFAULT_BASE_PREFIX)
    Features(FeatureRepository(context.tables)).declare(
        has_search=settings.search_is_deployed,
        has_user_pool=settings.user_pool_id is not None,
        has_provider=bool(settings.text(OIDC_ISSUER)),
    )
    administrators(context).ensure(settings.text(ADMIN_USER_ID), _admin_key(context))
    administrator_rules(context).create_missing()
    ConstraintRepository(context.tables).record_used_tags()
    if settings.number(PROCESSING):
        shipped_pipelines(context).ensure()
        shipped_workflows(context).ensure()
    return {"BucketId": bucket.bucket_id, "Search": _search(context)}


def record_page(request: CloudFormationCustomResourceEvent, context: Context) -> dict[str, str]:
    """Record the page of the stack `web`, or remove the record with the stack.

    Raises:
        UnavailableError: the table does not respond.
    """
    pages = PageRepository(context.tables)
    if request.request_type == "Delete":
        pages.delete()
    else:
        of_stack = request.resource_properties
        names = {"url": "Url", "issuer": "Issuer", "client_id": "ClientId"}
        values = {name: of_stack.get(key) for name, key in names.items()}
        pages.put(DeployedPage.model_validate(values))
    return {}


def _admin_key(context: Context) -> str:
    secret = context.secrets.value(ADMIN_API_KEY)
    key = with_prefix(secret)
    if key != secret:
        context.secrets.replace(ADMIN_API_KEY, key)
    return key


def _search(context: Context) -> str:
    engine = context.search_engine
    if engine is None:
        return "not deployed"
    try:
        prepared = ensure_indexes(engine, SearchState(context.tables, context.clock))
    except MappingDiffersError:
        # Failing would roll back the deployment whose reindex corrects it.
        _logger.exception("a search index differs from its declaration")
        return "mapped otherwise than declared: POST /admin/search/reindex corrects this"
    for sentence in prepared.refused:
        _logger.warning("a search setting was not applied", extra={"reason": sentence})
    return "; ".join(("as declared", *prepared.refused))


def _failure(physical_id: str, reason: str) -> ResourceAnswer:
    return ResourceAnswer(status="FAILED", physical_id=physical_id, reason=reason)


def _with_retries(step: Callable[[], dict[str, str]]) -> dict[str, str]:
    def run() -> dict[str, str]:
        with denials_named():
            return step()

    allowed = _retry_policy(DeniedError, seconds=_DENIED_SECONDS)
    answering = _retry_policy(UnavailableError, seconds=_PATIENCE_SECONDS)
    return answering(allowed, run)


def _retry_policy(error: type[Exception], *, seconds: float) -> Retrying:
    return Retrying(
        retry=retry_if_exception_type(error),
        wait=wait_fixed(_STEP_SECONDS),
        stop=stop_after_delay(seconds),
        reraise=True,
    )
