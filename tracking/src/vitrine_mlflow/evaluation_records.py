"""Records of evaluation datasets as they are stored, and as MLflow's entities."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from mlflow.entities import DatasetRecord, DatasetRecordSource
from mlflow.utils.mlflow_tags import MLFLOW_USER

from vitrine_mlflow.errors import page_token_checked, type_errors_reported, violated_error
from vitrine_mlflow.lending import require_source_lent
from vitrine_mlflow.mlflow_api import read_for_page

_PARTS = ("inputs", "outputs", "expectations")


def column_text(value: Any) -> str | None:
    """A value as a text column of SQL returns it.

    Raises:
        MlflowException: it is a list or a mapping, which SQL refuses.
    """
    if isinstance(value, bool):
        return str(int(value))
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        raise violated_error(f"The value {value!r} cannot be stored as text.")
    return str(value)


def user_of(tags: Mapping[str, Any] | None) -> str | None:
    """The user who wrote a record, by MLflow's tag."""
    return column_text(tags.get(MLFLOW_USER)) if tags else None


def last_user(records: Sequence[Mapping[str, Any]]) -> str | None:
    """The user of the last record that has one."""
    tags = [record["tags"] for record in records if MLFLOW_USER in (record.get("tags") or ())]
    return user_of(tags[-1]) if tags else None


def input_hash(record: Mapping[str, Any]) -> str:
    text = json.dumps(record.get("inputs", {}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def require_valid(record: Mapping[str, Any], *, is_new: bool) -> None:
    """Refuse a record that MLflow's own store does not add, or does not merge into a known one.

    Raises:
        MlflowException: a part has another type, or the source is not valid.
    """
    with type_errors_reported():
        if is_new:
            _require_new(record)
        else:
            for name in ("expectations", "tags"):
                dict[str, Any]().update(record.get(name) or {})


def _require_new(record: Mapping[str, Any]) -> None:
    inputs, source = record.get("inputs", {}), record.get("source") or None
    if isinstance(source, dict):
        known: dict[str, Any] = source  # pyright: ignore[reportUnknownVariableType]
        source = DatasetRecordSource.from_dict(known)
    DatasetRecord(
        dataset_id="", dataset_record_id="", inputs=inputs, source=source, created_time=0,
        last_update_time=0,
    )  # fmt: skip
    if source is not None:
        require_source_lent(source.to_dict(), "source")
    for name, value in {"inputs": inputs, **record}.items():
        if name in {"inputs", "expectations", "tags"} and not isinstance(value, dict | None):
            raise ValueError(f"Attribute '{name}' does not accept objects of type {type(value)}")


def new_record(new_id: str, record: Mapping[str, Any], now: int) -> dict[str, Any]:
    tags: Any = record.get("tags")
    user = user_of(tags)
    source = record.get("source")
    return {
        "id": f"dr-{new_id}",
        "inputs": record.get("inputs", {}),
        "outputs": record.get("outputs", {}),
        "expectations": record.get("expectations"),
        "tags": tags,
        "source": source.to_dict() if isinstance(source, DatasetRecordSource) else source or None,
        "created": now,
        "updated": now,
        "created_by": user,
        "updated_by": user,
    }


def merge_record(known: dict[str, Any], record: Mapping[str, Any], now: int) -> dict[str, Any]:
    merged = {**known, "updated": now}
    if "outputs" in record:
        merged["outputs"] = record["outputs"]
    for name in ("expectations", "tags"):
        if record.get(name):
            merged[name] = {**(known[name] or {}), **record[name]}
    user = user_of(record.get("tags"))
    return merged if user is None else {**merged, "updated_by": user}


def pack_record(info: Mapping[str, Any]) -> str:
    text = json.dumps(info, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can contain
        return json.dumps(info)
    return text


def record_entity(dataset_id: str, info: Mapping[str, Any]) -> DatasetRecord:
    source = DatasetRecordSource.from_dict(info["source"]) if info["source"] else None
    return DatasetRecord(
        dataset_record_id=info["id"],
        dataset_id=dataset_id,
        inputs=info["inputs"],
        outputs=info["outputs"],
        expectations=info["expectations"],
        tags=info["tags"],
        source=source,
        created_time=info["created"],
        last_update_time=info["updated"],
        created_by=info["created_by"],
        last_updated_by=info["updated_by"],
    )


def position(info: Mapping[str, Any]) -> tuple[int, str]:
    return info["created"], info["id"]


def after(records: list[dict[str, Any]], page_token: str) -> list[dict[str, Any]]:
    try:
        created, record_id = base64.b64decode(page_token.encode()).decode().split(":", 1)
        last = (int(created), record_id)
    except ValueError:
        with page_token_checked():
            return records[max(int(page_token), 0) :]  # MLflow takes a number, too
    return [record for record in records if position(record) > last]


def page(records: list[dict[str, Any]], size: int) -> tuple[list[dict[str, Any]], str | None]:
    """The first records, and the token of the next page."""
    read = read_for_page(records, 0, size)
    if len(read) <= size:
        return read, None
    with type_errors_reported():
        created, record_id = position(read[:size][-1])
        return read[:size], base64.b64encode(f"{created}:{record_id}".encode()).decode()


def schema_of(known: str | None, records: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The types of all fields that records have had; the first value of a field decides.

    Raises:
        MlflowException: outputs have fields, but earlier ones were no mapping.
    """
    if not records and not known:
        return None
    schema: dict[str, Any] = (
        json.loads(known)
        if known
        else {"inputs": {}, "outputs": {}, "expectations": {}, "version": "1.0"}
    )
    with type_errors_reported():
        for record in records:
            for part in _PARTS:
                _add_types(schema, part, record.get(part))
    return schema


def _add_types(schema: dict[str, Any], part: str, value: Any) -> None:
    if isinstance(value, dict):
        fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        for name, field in fields.items():
            if name not in schema[part]:
                schema[part][name] = _type_name(field)
    elif part == "outputs" and value is not None and not schema[part]:
        schema[part] = _type_name(value)


def _type_name(value: Any) -> str:
    names = {
        type(None): "null", bool: "boolean", int: "integer", float: "float", str: "string",
        list: "array", dict: "object",
    }  # fmt: skip
    return next((name for kind, name in names.items() if isinstance(value, kind)), "unknown")
