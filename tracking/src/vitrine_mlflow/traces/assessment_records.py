"""Assessments as records inside the item of their trace."""

import json
import uuid
from collections.abc import Callable
from typing import Any

from mlflow.entities import (
    Assessment,
    AssessmentError,
    AssessmentSource,
    Expectation,
    Feedback,
    IssueReference,
)

from vitrine_mlflow.errors import invalid


def record_of(assessment: Assessment, now: Callable[[], int]) -> dict[str, Any]:
    """The record of a given assessment, which gets an id if it has none.

    Raises:
        MlflowException: it has no value.
    """
    if assessment.assessment_id is None:
        assessment.assessment_id = f"a-{uuid.uuid4().hex}"
    kind, value, error = _content(assessment)
    time = now()
    return {
        "id": assessment.assessment_id,
        "type": kind,
        "name": assessment.name,
        "value": value,
        "error": error,
        "created": assessment.create_time_ms or time,
        "updated": assessment.last_update_time_ms or time,
        "source_type": assessment.source.source_type,
        "source_id": assessment.source.source_id,
        "run": assessment.run_id,
        "span": assessment.span_id,
        "rationale": assessment.rationale,
        "overrides": assessment.overrides,
        "valid": True,
        "metadata": assessment.metadata or None,
    }


def _content(assessment: Assessment) -> tuple[str, str, dict[str, Any] | None]:
    if assessment.feedback is not None:
        error = assessment.feedback.error
        return (
            "feedback",
            json.dumps(assessment.feedback.value),
            error.to_dictionary() if error else None,
        )
    if assessment.expectation is not None:
        return "expectation", json.dumps(assessment.expectation.value), None
    if assessment.issue is not None:
        return "issue", json.dumps(assessment.issue.to_dictionary()), None
    raise invalid("Assessment must have either feedback, expectation, or issue value")


def assessment_of(trace_id: str, record: dict[str, Any]) -> Assessment:
    common: dict[str, Any] = {
        "source": AssessmentSource(
            source_type=record["source_type"], source_id=record["source_id"]
        ),
        "trace_id": trace_id,
        "metadata": record["metadata"],
        "span_id": record["span"],
        "create_time_ms": record["created"],
        "last_update_time_ms": record["updated"],
    }
    assessment = _of_type(record, json.loads(record["value"]), common)
    assessment.overrides = record["overrides"]
    assessment.valid = record["valid"]
    assessment.run_id = record["run"]
    assessment.assessment_id = record["id"]
    return assessment


def _of_type(record: dict[str, Any], value: Any, common: dict[str, Any]) -> Assessment:
    match record["type"]:
        case "feedback":
            error = record["error"]
            return Feedback(
                name=record["name"],
                value=value,
                error=AssessmentError.from_dictionary(error) if error else None,
                rationale=record["rationale"],
                **common,
            )
        case "expectation":
            return Expectation(name=record["name"], value=value, **common)
        case _:
            return IssueReference(
                issue_id=record["name"],
                issue_name=value.get("issue_name"),
                run_id=record["run"],
                rationale=record["rationale"],
                **common,
            )
