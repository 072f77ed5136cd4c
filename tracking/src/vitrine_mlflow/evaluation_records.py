"""Records of evaluation datasets as they are stored, and as MLflow's entities."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from mlflow.entities import DatasetRecord, DatasetRecordSource
from mlflow.utils.mlflow_tags import MLFLOW_USER

_PARTS = ("inputs", "outputs", "expectations")


def user_of(tags: Mapping[str, Any] | None) -> Any:
    """Who wrote something, by MLflow's tag."""
    return tags.get(MLFLOW_USER) if tags else None


def input_hash(record: Mapping[str, Any]) -> str:
    text = json.dumps(record.get("inputs", {}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


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


def merged(known: dict[str, Any], record: Mapping[str, Any], now: int) -> dict[str, Any]:
    merged = {**known, "updated": now}
    if "outputs" in record:
        merged["outputs"] = record["outputs"]
    for name in ("expectations", "tags"):
        if record.get(name):
            merged[name] = {**(known[name] or {}), **record[name]}
    user = user_of(record.get("tags"))
    return merged if user is None else {**merged, "updated_by": user}


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


def token_after(info: Mapping[str, Any]) -> str:
    created, record_id = position(info)
    return base64.b64encode(f"{created}:{record_id}".encode()).decode()


def after(records: list[dict[str, Any]], page_token: str) -> list[dict[str, Any]]:
    try:
        created, _, record_id = base64.b64decode(page_token.encode()).decode().partition(":")
        last = (int(created), record_id)
    except ValueError:
        return records[int(page_token) :]  # MLflow takes a number, too
    return [one for one in records if position(one) > last]


def schema_of(known: str | None, records: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The types of all fields that records have had; the first value of a field decides."""
    if not records and not known:
        return None
    schema: dict[str, Any] = (
        json.loads(known)
        if known
        else {"inputs": {}, "outputs": {}, "expectations": {}, "version": "1.0"}
    )
    for record in records:
        for part in _PARTS:
            value: Any = record.get(part)
            # once an output was no mapping, the schema has its type and no fields
            if isinstance(value, dict) and isinstance(schema[part], dict):
                fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
                schema[part] = {
                    **{name: _type_name(one) for name, one in fields.items()},
                    **schema[part],
                }
            elif part == "outputs" and value is not None and not schema[part]:
                schema[part] = _type_name(value)
    return schema


def _type_name(value: Any) -> str:
    names = {
        type(None): "null", bool: "boolean", int: "integer", float: "float", str: "string",
        list: "array", dict: "object",
    }  # fmt: skip
    return next((name for kind, name in names.items() if isinstance(value, kind)), "unknown")
