"""Sessions of traces that have ended."""

from typing import Any

from vitrine_mlflow.mlflow_api import parsed_experiment_id
from vitrine_mlflow.mlflow_traces import completed_session
from vitrine_mlflow.search.traces import TraceSearch


def completed_sessions(
    search: TraceSearch,
    experiment_id: str,
    last: tuple[int, int],
    max_results: int | None,
    filter_string: str | None,
) -> list[Any]:
    """Sessions whose last trace is of this range of times and whose first one a filter finds."""
    own_id = str(parsed_experiment_id(experiment_id))
    times: dict[str, list[int]] = {}
    for stored in search.matching_traces(own_id, None):
        if stored.document.session is not None:
            times.setdefault(stored.document.session, []).append(stored.document.time)
    if filter_string:
        firsts = {
            (stored.document.session, stored.document.time)
            for stored in search.matching_traces(own_id, filter_string)
        }
        times = {name: starts for name, starts in times.items() if (name, min(starts)) in firsts}
    ended = sorted(
        (max(starts), name, min(starts))
        for name, starts in times.items()
        if last[0] <= max(starts) <= last[1]
    )
    return [completed_session(name, first, latest) for latest, name, first in ended[:max_results]]
