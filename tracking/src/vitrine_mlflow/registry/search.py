"""Searches over registered models and their versions, by MLflow's own parsers."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from typing import Any

from mlflow.entities.model_registry import ModelVersion, RegisteredModel
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import (
    SEARCH_MODEL_VERSION_MAX_RESULTS_THRESHOLD,
    SEARCH_REGISTERED_MODEL_MAX_RESULTS_THRESHOLD,
)

from vitrine_mlflow.comparisons import COMPARISONS, require_comparable
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.full_text import trigrams_of_filters
from vitrine_mlflow.mlflow_api import (
    SearchModelUtils,
    SearchModelVersionUtils,
    SearchUtils,
    read_for_page,
    start_offset,
)
from vitrine_mlflow.registry.items import PROMPT_TAG, StoredModel
from vitrine_mlflow.registry.models import Models

_TAG_COMPARATORS = ("=", "!=", "LIKE", "ILIKE")
_TEXT_COMPARATORS = (*_TAG_COMPARATORS, "IN", "NOT IN")
_Parsed = dict[str, Any]
_DEFAULT_ORDER = ["last_updated_timestamp DESC", "name ASC", "version_number DESC"]


def search_models(
    models: Models,
    filter_string: str | None,
    max_results: int,
    order_by: Sequence[str] | None,
    page_token: str | None,
) -> tuple[list[RegisteredModel], bytes | None]:
    """One page of models. Without a condition on the name, all models are read."""
    if max_results > SEARCH_REGISTERED_MODEL_MAX_RESULTS_THRESHOLD:
        raise invalid(
            "Invalid value for request parameter max_results. It must be at most "
            f"{SEARCH_REGISTERED_MODEL_MAX_RESULTS_THRESHOLD}, but got value {max_results}"
        )
    filters: list[_Parsed] = SearchModelUtils.parse_search_filter(filter_string)
    clauses = _model_order(order_by)
    offset = start_offset(page_token)
    for parsed in filters:
        _check_model_filter(parsed)
    _require_comparable(filters)
    prompts = _selects_prompts(filters)
    matching = [
        model.entity()
        for model in _all(models, filters)
        if (prompts or not model.is_prompt)
        and _attributes_match(filters, {"name": model.name})
        and _tags_match(filters, model.tags, prompts=prompts)
    ]
    return _page(matching, clauses, offset, max_results)


def search_versions(
    models: Models,
    filter_string: str | None,
    max_results: Any,
    order_by: Sequence[str] | None,
    page_token: str | None,
) -> tuple[list[ModelVersion], bytes | None]:
    """One page of versions. A filter `name = '…'` reads that model only."""
    if not isinstance(max_results, int) or max_results < 1:
        raise invalid(
            f"Invalid value for max_results. It must be a positive integer, but got {max_results}"
        )
    if max_results > SEARCH_MODEL_VERSION_MAX_RESULTS_THRESHOLD:
        raise invalid(
            "Invalid value for request parameter max_results. It must be at most "
            f"{SEARCH_MODEL_VERSION_MAX_RESULTS_THRESHOLD}, but got value {max_results}"
        )
    filters: list[_Parsed] = SearchModelVersionUtils.parse_search_filter(filter_string)
    filters = [_checked_version_filter(parsed) for parsed in filters]
    clauses = _version_order(order_by or _DEFAULT_ORDER)
    offset = start_offset(page_token)
    _require_comparable(filters)
    prompts = _selects_prompts(filters)
    versions: list[ModelVersion] = []
    for model in _all(models, filters):
        is_prompt = any(tags.get(PROMPT_TAG) == "true" for tags in model.version_tags.values())
        if is_prompt and not prompts:
            continue
        versions += [
            model.version(number, with_aliases=False)
            for number, info in model.live_versions().items()
            if _attributes_match(
                filters,
                {
                    "name": model.name,
                    "version_number": number,
                    "run_id": info["run_id"],
                    "source_path": info["source"],
                },
            )
            and _tags_match(filters, model.version_tags.get(number, {}), prompts=prompts)
        ]
    return _page(versions, clauses, offset, max_results)


def _require_comparable(filters: Iterable[_Parsed]) -> None:
    for parsed in filters:
        require_comparable(parsed["comparator"], parsed["value"])


def _all(models: Models, filters: Iterable[_Parsed]) -> Iterator[StoredModel]:
    named = [
        parsed["value"]
        for parsed in filters
        if parsed["type"] == "attribute" and parsed["key"] == "name"
        and parsed["comparator"] == "="
    ]  # fmt: skip
    for name in named[:1] or _select_models(models, filters):
        try:
            yield models.find(name)
        except MlflowException as error:
            if error.error_code not in {"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"}:
                raise  # otherwise it was deleted since it was listed, or never existed


def _select_models(models: Models, filters: Iterable[_Parsed]) -> Iterable[str]:
    """Names with the letters that the filter requires, else all."""
    required = trigrams_of_filters(filters)
    selected = models.with_trigrams(required) if required else None
    return models.listed_by_name() if selected is None else selected


def _selects_prompts(filters: Iterable[_Parsed]) -> bool:
    for parsed in filters:
        if parsed["type"] == "tag" and parsed["key"] == PROMPT_TAG:
            wanted = {"=": "true", "!=": "false"}.get(parsed["comparator"])
            return parsed["value"].lower() == wanted
    return False


def _attributes_match(filters: Iterable[_Parsed], attributes: dict[str, Any]) -> bool:
    return all(
        attributes[parsed["key"]] is not None
        and COMPARISONS[parsed["comparator"]](attributes[parsed["key"]], parsed["value"])
        for parsed in filters
        if parsed["type"] == "attribute"
    )


def _tags_match(filters: Iterable[_Parsed], tags: dict[str, str], *, prompts: bool) -> bool:
    return all(
        parsed["key"] in tags
        and COMPARISONS[parsed["comparator"]](tags[parsed["key"]], parsed["value"])
        for parsed in filters
        if parsed["type"] == "tag" and (prompts or parsed["key"] != PROMPT_TAG)
    )


def _check_model_filter(parsed: _Parsed) -> None:
    key, comparator = parsed["key"], parsed["comparator"]
    if parsed["type"] == "attribute":
        if key != "name":
            raise invalid(f"Invalid attribute name: {key}")
        if comparator not in _TEXT_COMPARATORS:
            raise invalid(f"Invalid comparator for attribute: {comparator}")
    elif parsed["type"] != "tag":
        raise invalid(f"Invalid token type: {parsed['type']}")
    elif comparator not in _TAG_COMPARATORS:
        raise invalid(f"Invalid comparator for tag: {comparator}")


def _checked_version_filter(parsed: _Parsed) -> _Parsed:
    key, comparator, value = parsed["key"], parsed["comparator"], parsed["value"]
    if parsed["type"] == "tag":
        if comparator not in _TAG_COMPARATORS:
            raise invalid(f"Invalid comparator for tag: {comparator}")
        return parsed
    if parsed["type"] != "attribute":
        raise invalid(f"Invalid token type: {parsed['type']}")
    if key not in SearchModelVersionUtils.VALID_SEARCH_ATTRIBUTE_KEYS:
        raise invalid(f"Invalid attribute name: {key}")
    if key in SearchModelVersionUtils.NUMERIC_ATTRIBUTES:
        return {**parsed, "value": _number(key, comparator, value)}
    lists = comparator in {"IN", "NOT IN"} and key not in {"run_id", "name"}
    if comparator not in SearchModelVersionUtils.VALID_STRING_ATTRIBUTE_COMPARATORS or lists:
        raise invalid(f"Invalid comparator for attribute: {comparator}")
    return parsed


def _number(key: str, comparator: str, value: Any) -> int:
    if comparator not in SearchModelVersionUtils.VALID_NUMERIC_ATTRIBUTE_COMPARATORS:
        raise invalid(f"Invalid comparator for attribute {key}: {comparator}")
    if isinstance(value, float):
        raise invalid(f"Invalid value for numeric attribute '{key}': {value!r}")
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise invalid(f"Invalid value for numeric attribute '{key}': {value!r}") from error


def _model_order(order_by: Sequence[str] | None) -> list[tuple[str, bool]]:
    clauses: list[tuple[str, bool]] = []
    for text in order_by or []:
        name, ascending = SearchUtils.parse_order_by_for_search_registered_models(text)
        if name == "name":
            _add_clause(clauses, "name", ascending, order_by)
        elif name in SearchUtils.VALID_TIMESTAMP_ORDER_BY_KEYS:
            _add_clause(clauses, "last_updated_timestamp", ascending, order_by)
        else:
            raise invalid(
                f"Invalid order by key '{name}' specified.Valid keys are "
                f"'{SearchUtils.RECOMMENDED_ORDER_BY_KEYS_REGISTERED_MODELS}'"
            )
    return clauses if any(key == "name" for key, _ in clauses) else [*clauses, ("name", True)]


def _version_order(order_by: Sequence[str]) -> list[tuple[str, bool]]:
    clauses: list[tuple[str, bool]] = []
    for text in order_by:
        _, key, ascending = SearchModelVersionUtils.parse_order_by_for_search_model_versions(text)
        if key not in SearchModelVersionUtils.VALID_ORDER_BY_ATTRIBUTE_KEYS:
            raise invalid(
                f"Invalid order by key '{key}' specified. Valid keys are "
                f"{SearchModelVersionUtils.VALID_ORDER_BY_ATTRIBUTE_KEYS}"
            )
        _add_clause(clauses, "version" if key == "version_number" else key, ascending, order_by)
    used = {key for key, _ in clauses}
    defaults = [("name", True), ("version", False)]
    return clauses + [(key, ascending) for key, ascending in defaults if key not in used]


def _add_clause(
    clauses: list[tuple[str, bool]],
    key: str,
    ascending: bool,
    order_by: Any,
) -> None:
    if any(known == key for known, _ in clauses):
        raise MlflowException(f"`order_by` contains duplicate fields: {order_by}")
    clauses.append((key, ascending))


def _page(
    matches: list[Any], clauses: Sequence[tuple[str, bool]], offset: int, size: int
) -> tuple[list[Any], bytes | None]:
    def compare(left: Any, other: Any) -> int:
        for key, ascending in clauses:
            first, second = getattr(left, key), getattr(other, key)
            if first != second:
                return -1 if (first < second) == ascending else 1
        return 0

    read = read_for_page(sorted(matches, key=cmp_to_key(compare)), offset, size)
    token = SearchUtils.create_page_token(offset + size) if len(read) == size + 1 else None
    return read[:size], token
