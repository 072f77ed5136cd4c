"""The declared differences from MLflow's SQL store, with reasons: the same list as the guide's.

Tests name the entry where they leave something out.
"""

from enum import Enum


class Difference(Enum):
    """One difference, in the words of the guide."""

    INFINITIES = "Infinite metrics are returned as infinite. SQL stores the largest double instead."
    SQL_STATEMENTS = (
        "Error messages do not contain an SQL statement, for example for a name that is already "
        "used. The error codes are the same, except for filters that name a relation of SQL's "
        "tables (`tags = 'x'` for logged models) and for version numbers beyond 64 bits."
    )
    PAGE_TOKENS = (
        "Page tokens contain the last run of a page, not an offset. Runs created between two pages "
        "are neither skipped nor repeated. Tokens with only an offset are accepted; forged ones "
        "are refused with 400."
    )
    ORDER = (
        "Metrics, params and tags of a run are ordered by their keys. SQL does not define their "
        "order, nor that of the assessments of a trace, the metrics of a logged model and the "
        "latest versions of a registered model."
    )
    LARGE_ITEMS = (
        "Names whose key would exceed DynamoDB's limits (1,024 bytes), empty keys of an "
        "evaluation dataset's tags, and values that would exceed the 400 kB of an item, are "
        "refused with `INVALID_PARAMETER_VALUE`."
    )
    REPLY_OF_START = (
        "If the spans of a trace were logged before `start_trace`, its reply contains all tags of "
        "the trace; SQL's reply lacks the new ones."
    )
    EXPERIMENT_OF_A_TRACE = (
        "A trace cannot change its experiment: `start_trace` is refused if the trace's spans were "
        "logged to another experiment."
    )
    LINKS_OF_A_TRACE = (
        "Links of a trace to runs and prompts are deleted with it, and traces that do not exist "
        "cannot be linked. SQL keeps such links; a new trace with the same id then has them."
    )
    BATCHES_WITH_MODELS = (
        "A batch that is refused because of a metric of a logged model writes nothing; SQL has "
        "already written its params and the metrics of the run."
    )
    SECRETS_OF_WEBHOOKS = (
        "A webhook with a secret requires `MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY`. Without this "
        "variable, SQL encrypts the secret with a key that exists only in the server's memory, so "
        "the secret cannot be read after a restart."
    )
