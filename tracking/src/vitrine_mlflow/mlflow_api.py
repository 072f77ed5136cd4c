"""The parts of MLflow without public names or types, in one place.

MLflow validates with functions whose names begin with an underscore; its own stores and every
plugin call the same ones, so that messages are equal.
"""

# pyright: reportPrivateUsage=false, reportUnknownVariableType=false

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from mlflow import entities
from mlflow.entities import LifecycleStage, RunStatus, RunTag
from mlflow.entities.model_registry.model_version_stages import get_canonical_stage
from mlflow.prompt import registry_utils
from mlflow.store.artifact.utils import models as model_uris
from mlflow.store.entities.paged_list import PagedList
from mlflow.store.tracking import SEARCH_MAX_RESULTS_THRESHOLD
from mlflow.utils import mlflow_tags, name_utils, search_utils, uri, validation

from vitrine_mlflow.errors import invalid, page_token_checked, type_errors_reported

_untyped: Any = validation
_untyped_entities: Any = entities
_untyped_uri: Any = uri
_untyped_search: Any = search_utils
_untyped_names: Any = name_utils
SearchUtils: Any = _untyped_search.SearchUtils
SearchExperimentsUtils: Any = _untyped_search.SearchExperimentsUtils
SearchModelUtils: Any = _untyped_search.SearchModelUtils
SearchModelVersionUtils: Any = _untyped_search.SearchModelVersionUtils
_untyped_prompts: Any = registry_utils
_untyped_model_uris: Any = model_uris
MLFLOW_DATASET_CONTEXT: str = mlflow_tags.MLFLOW_DATASET_CONTEXT
MLFLOW_LOGGED_MODELS: str = mlflow_tags.MLFLOW_LOGGED_MODELS
MLFLOW_RUN_NAME: str = mlflow_tags.MLFLOW_RUN_NAME
# With the size of a page it is below the largest that slices take.
_LARGEST_OFFSET = 2**62

canonical_stage: Callable[[str], str] = get_canonical_stage
generate_random_name: Callable[[], str] = _untyped_names._generate_random_name
dataset_summary: Callable[..., Any] = _untyped_entities._DatasetSummary
parsed_experiment_id: Callable[[str], int] = _untyped._parse_experiment_id
parsed_model_uri: Callable[[str], Any] = _untyped_model_uris._parse_model_uri
refuse_taken_model_name: Callable[[str, bool, bool], None] = (
    _untyped_prompts.handle_resource_already_exist_error
)
validate_alias: Callable[[str], None] = _untyped._validate_model_alias_name
validate_alias_not_reserved: Callable[[str], None] = _untyped._validate_model_alias_name_reserved
validate_artifact_location_length: Callable[[str], None] = (
    _untyped._validate_experiment_artifact_location_length
)
validate_batch_data: Callable[..., Any] = _untyped._validate_batch_log_data
validate_batch_limits: Callable[..., None] = _untyped._validate_batch_log_limits
validate_dataset_inputs: Callable[..., None] = _untyped._validate_dataset_inputs
validate_experiment_name: Callable[[str], None] = _untyped._validate_experiment_name
validate_experiment_tag: Callable[[str, str], None] = _untyped._validate_experiment_tag
validate_logged_model_name: Callable[[str | None], None] = _untyped._validate_logged_model_name
validate_metric: Callable[..., None] = _untyped._validate_metric
validate_model_name: Callable[[str], None] = _untyped._validate_model_name
validate_model_renaming: Callable[[str], None] = _untyped._validate_model_renaming
validate_model_tag: Callable[[str, str], None] = _untyped._validate_registered_model_tag
validate_param: Callable[..., Any] = _untyped._validate_param
validate_param_keys_unique: Callable[..., None] = _untyped._validate_param_keys_unique
validate_run_id: Callable[[str], None] = _untyped._validate_run_id
validate_tag_name: Callable[[str], None] = _untyped._validate_tag_name
validate_version_tag: Callable[[str, str], None] = _untyped._validate_model_version_tag
validated_version: Callable[[Any], int] = _untyped._validate_model_version
validated_archival_retention: Callable[[str], str] = (
    _untyped._validate_trace_archival_retention_string
)
validate_password: Callable[[str], None] = _untyped._validate_password
validate_username: Callable[[str], None] = _untyped._validate_username
validate_tag: Callable[..., Any] = _untyped._validate_tag
validate_webhook_events: Callable[[Any], None] = _untyped._validate_webhook_events
validate_webhook_name: Callable[[Any], None] = _untyped._validate_webhook_name
validate_webhook_url: Callable[[Any], None] = _untyped._validate_webhook_url


def validated_archival_location(location: str) -> str:
    return str(
        _untyped._validate_trace_archival_repository_support(
            location, parameter_name="trace_archival_location"
        )
    )


def validate_grant(permission: str, resource_type: str, pattern: str | None = None) -> None:
    """Refuse permissions and patterns that MLflow does not grant for a type of resource."""
    # the module belongs to the server, which needs packages that clients do not have
    from mlflow.server.auth import permissions  # noqa: PLC0415

    untyped: Any = permissions
    untyped._validate_permission_for_resource_type(permission, resource_type)
    if pattern is not None:
        untyped._validate_resource_pattern(pattern, resource_type)


def validate_resource_type(resource_type: str) -> None:
    from mlflow.server.auth import permissions  # noqa: PLC0415 - as above

    untyped: Any = permissions
    untyped._validate_resource_type(resource_type)


def run_name_of_tags(tags: Sequence[RunTag]) -> str | None:
    return next((str(tag.value) for tag in tags if tag.key == MLFLOW_RUN_NAME), None)


def status_text(status: Any) -> str:
    return str(RunStatus.to_string(status))


def stages_of(view: Any) -> set[str]:
    """The lifecycle stages that a view includes."""
    return set(LifecycleStage.view_type_to_stages(view))


def local_uri(location: str) -> str:
    return str(_untyped_uri.resolve_uri_if_local(location))


def joined_uri(root: str, *parts: str) -> str:
    return str(_untyped_uri.append_to_uri_path(root, *parts))


def page_of(results: list[Any], token: Any) -> Any:
    return PagedList(results, token)


def start_offset(page_token: str | None) -> int:
    """The offset that a page token holds.

    Raises:
        MlflowException: it is no token.
    """
    with page_token_checked():
        return checked_offset(SearchUtils.parse_start_offset_from_page_token(page_token))


def checked_offset(offset: int) -> int:
    """Return an offset of a page token.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is too large.
    """
    # The page after one of a negative size, which some searches accept, begins below 0.
    if abs(index(offset)) > _LARGEST_OFFSET:
        raise ValueError(offset)
    return offset


def read_for_page(rows: list[Any], offset: int, size: int) -> list[Any]:
    """One row more than the page, as MLflow's own stores read them."""
    rest = rows[max(offset, 0) :]
    # Not all requests refuse negative sizes: SQL takes a negative limit for none.
    return rest[: size + 1] if size >= -1 else rest


def validated_max_results(max_results: int | None, *, allow_none: bool = False) -> None:
    """Refuse a size of pages that MLflow does not allow.

    Raises:
        MlflowException: it is none, below 1, or too large.
    """
    if (max_results is None and not allow_none) or (max_results is not None and max_results < 1):
        raise invalid(
            f"Invalid value {max_results} for parameter 'max_results' supplied. It must be a "
            "positive integer"
        )
    if max_results is not None and max_results > SEARCH_MAX_RESULTS_THRESHOLD:
        raise invalid(
            f"Invalid value {max_results} for parameter 'max_results' supplied. It must be at "
            f"most {SEARCH_MAX_RESULTS_THRESHOLD}"
        )


def logged_model(model_id: str) -> Any:
    """A logged model of the tracking store, which may be another than that of the registry.

    MLflow's own registry finds it in the same way: by the tracking URI of the process.
    """
    from mlflow import MlflowClient  # noqa: PLC0415 - loads all of MLflow's client

    return MlflowClient().get_logged_model(model_id)


def search_models_token() -> Any:
    """The class of the tokens of searches over logged models."""
    return _untyped_search.SearchLoggedModelsPaginationToken


def parsed_model_filter(filter_string: str | None) -> list[tuple[str, str, str, Any]]:
    """Conditions of a search over logged models: type, key, comparator, value.

    Raises:
        MlflowException: MLflow's parser refuses the filter.
    """
    from mlflow.utils import search_logged_model_utils as utils  # noqa: PLC0415 - loads SQLAlchemy

    untyped: Any = utils
    with type_errors_reported():
        return [
            (condition.entity.type.value, condition.entity.key, condition.op, condition.value)
            for condition in untyped.parse_filter_string(filter_string)
        ]
