"""Assessments of traces."""

import json
from typing import Any

from mlflow.entities import Assessment, Expectation, Feedback
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INTERNAL_ERROR

from vitrine_mlflow.context import Context
from vitrine_mlflow.errors import invalid, missing_error
from vitrine_mlflow.traces.assessment_records import assessment_of, record_of
from vitrine_mlflow.traces.store import StoredTrace, TraceStore


class Assessments:
    """Assessments are part of their trace's item, as searches return them with it."""

    def __init__(self, context: Context, traces: TraceStore) -> None:
        self._now = context.sources.now_ms
        self._traces = traces

    def create(self, assessment: Assessment) -> Assessment:
        """Add an assessment; one that it overrides becomes invalid.

        Raises:
            MlflowException: there is no such trace or overridden assessment.
        """
        trace_id = str(assessment.trace_id)

        def change(stored: StoredTrace) -> Assessment:
            records = stored.document.assessments
            record = record_of(assessment, self._now)
            overridden = record["overrides"]
            if overridden:
                _require(records, trace_id, overridden)["valid"] = False
            if record["id"] in records:
                raise MlflowException(
                    f"Failed to create assessment for trace '{trace_id}' "
                    "due to a constraint violation.",
                    INTERNAL_ERROR,
                )
            records[record["id"]] = record
            self._traces.write(stored)
            return assessment_of(trace_id, record)

        return self._traces.change(trace_id, change)

    def get(self, trace_id: str, assessment_id: str) -> Assessment:
        traces = self._traces.find_many([trace_id])
        record = _require(_records(traces, trace_id), trace_id, assessment_id)
        return assessment_of(trace_id, record)

    def update(self, trace_id: str, assessment_id: str, **changes: Any) -> Assessment:
        """Change the given ones of name, expectation, feedback, rationale and metadata.

        Raises:
            MlflowException: the assessment does not exist or is of the other type.
        """

        def change(stored: StoredTrace) -> Assessment:
            record = _require(stored.document.assessments, trace_id, assessment_id)
            record.update(_changed_fields(record, **changes))
            record["updated"] = self._now()
            self._traces.write(stored)
            return assessment_of(trace_id, record)

        if not self._traces.find_many([trace_id]):
            raise _no_trace(trace_id)
        return self._traces.change(trace_id, change)

    def delete(self, trace_id: str, assessment_id: str) -> None:
        """Remove an assessment, if it exists; one that it overrode becomes valid again."""

        def change(stored: StoredTrace) -> None:
            records = stored.document.assessments
            removed = records.pop(assessment_id, None)
            if removed is None:
                return
            overridden = records.get(removed["overrides"] or "")
            if overridden is not None:
                overridden["valid"] = True
            self._traces.write(stored)

        # as in MLflow's own store, nothing to remove is no failure
        if self._traces.find_many([trace_id]):
            self._traces.change(trace_id, change)


def _records(traces: list[StoredTrace], trace_id: str) -> dict[str, dict[str, Any]]:
    if not traces:
        raise _no_trace(trace_id)
    return traces[0].document.assessments


def _no_trace(trace_id: str) -> Exception:
    return missing_error(f"Trace with request_id '{trace_id}' not found")


def _require(
    records: dict[str, dict[str, Any]], trace_id: str, assessment_id: str
) -> dict[str, Any]:
    if assessment_id not in records:
        raise missing_error(
            f"Assessment with ID '{assessment_id}' not found for trace '{trace_id}'"
        )
    return records[assessment_id]


def _changed_fields(
    record: dict[str, Any],
    name: str | None = None,
    expectation: Any = None,
    feedback: Any = None,
    rationale: str | None = None,
    metadata: dict[str, str] | None = None,
) -> dict[str, Any]:
    existing = assessment_of("", record)
    if expectation is not None and feedback is not None:
        raise invalid("Cannot specify both `expectation` and `feedback` parameters.")
    if expectation is not None and not isinstance(existing, Expectation):
        raise invalid("Cannot update expectation value on a Feedback assessment.")
    if feedback is not None and not isinstance(existing, Feedback):
        raise invalid("Cannot update feedback value on an Expectation assessment.")
    changes: dict[str, Any] = {
        "metadata": {**(record["metadata"] or {}), **(metadata or {})} or None
    }
    if name is not None:
        changes["name"] = name
    if rationale is not None and isinstance(existing, Feedback):
        changes["rationale"] = rationale
    if expectation is not None:
        changes["value"] = json.dumps(expectation.value)
    if feedback is not None:
        changes["value"] = json.dumps(feedback.value)
        changes["error"] = feedback.error.to_dictionary() if feedback.error else None
    return changes
