"""The start and the end of traces as MLflow's clients 2.x send them."""

from collections.abc import Mapping
from typing import Any

from mlflow.entities.trace_info_v2 import TraceInfoV2
from mlflow.entities.trace_status import TraceStatus

from vitrine_mlflow.context import Context
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.mlflow_traces import NAME_TAG, validated_name
from vitrine_mlflow.traces.document import TraceDocument
from vitrine_mlflow.traces.store import StoredTrace, TraceStore
from vitrine_mlflow.traces.traces import artifact_tag, require_locations_storable


class DeprecatedTraces:
    """Writes traces whose spans the client uploads as an artifact."""

    def __init__(self, context: Context, experiments: Experiments, items: TraceStore) -> None:
        self._context = context
        self._experiments = experiments
        self._items = items

    def start(
        self,
        experiment_id: str,
        timestamp_ms: int,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
    ) -> TraceInfoV2:
        """Write a trace that is in progress; the id is new."""
        name = validated_name(tags.get(NAME_TAG))
        require_locations_storable(tags)
        experiment = self._experiments.find(experiment_id)
        experiment.require_active()
        trace_id = self._context.sources.new_hex()
        document = TraceDocument(timestamp_ms, TraceStatus.IN_PROGRESS.to_state().value, name=name)
        document.tags = {key: value for key, value in tags.items() if key != NAME_TAG}
        document.tags |= artifact_tag(self._experiments, experiment, trace_id)
        document.promote(metadata)
        return _info(self._items.write(StoredTrace(experiment.experiment_id, trace_id, document)))

    def end(
        self,
        trace_id: str,
        timestamp_ms: int,
        status: TraceStatus,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
    ) -> TraceInfoV2:
        """Complete a trace.

        Raises:
            MlflowException: there is no such trace.
        """
        require_locations_storable(tags)

        def change(stored: StoredTrace) -> StoredTrace:
            document = stored.document
            document.duration = timestamp_ms - document.time
            document.state = status.to_state().value
            if NAME_TAG in tags:
                document.name = validated_name(tags[NAME_TAG])
            document.tags |= {key: value for key, value in tags.items() if key != NAME_TAG}
            document.promote(metadata)
            return self._items.write(stored)

        return _info(self._items.change(trace_id, change))


def _info(stored: StoredTrace) -> TraceInfoV2:
    info: Any = stored.document.entity(stored.experiment_id, stored.trace_id)
    return TraceInfoV2.from_v3(info)
