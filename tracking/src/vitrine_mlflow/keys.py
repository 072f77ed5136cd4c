"""Every key of the table: built, parsed and documented from one declaration."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from vitrine_mlflow.encoding import escape, unescape

DEFAULT_WORKSPACE = "default"
_FIELD = re.compile(r"{(\w+)}")


class Key(NamedTuple):
    """The primary key of an item."""

    pk: str
    sk: str


@dataclass(frozen=True)
class Pattern:
    """Text of a key with named fields."""

    text: str

    @cached_property
    def _parts(self) -> list[str]:
        return _FIELD.split(self.text)  # literal, field, literal, field, …

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        literals, fields = self._parts[::2], self._parts[1::2]
        groups = [f"(?P<{name}>[^#]*)" for name in fields]
        mixed = [re.escape(literals[0])]
        for group, literal in zip(groups, literals[1:], strict=True):
            mixed += [group, re.escape(literal)]
        return re.compile("".join(mixed), re.DOTALL)

    def build(self, fields: Mapping[str, str]) -> str:
        """The key with all its fields."""
        parts = self._parts
        return "".join(
            escape(fields[part]) if index % 2 else part for index, part in enumerate(parts)
        )

    def prefix(self, fields: Mapping[str, str]) -> str:
        """The key up to the first field that is not given."""
        built: list[str] = []
        for index, part in enumerate(self._parts):
            if index % 2 and part not in fields:
                break
            built.append(escape(fields[part]) if index % 2 else part)
        return "".join(built)

    def parse(self, key: str) -> dict[str, str] | None:
        """The fields of a key, or None if the key has another pattern."""
        match = self._regex.fullmatch(key)
        if match is None:
            return None
        return {name: unescape(text) for name, text in match.groupdict().items()}


@dataclass(frozen=True)
class Entity:
    """A type of item: its primary key, and its keys in global indexes."""

    name: str
    pk: Pattern
    sk: Pattern
    title: str
    description: str
    indexes: Mapping[str, tuple[Pattern, Pattern]] = field(
        default_factory=dict[str, tuple[Pattern, Pattern]]
    )
    local: Mapping[str, Pattern] = field(default_factory=dict[str, Pattern])  # in local indexes
    ours: bool = False
    elsewhere: "Entity | None" = None  # in workspaces other than the default

    def key(self, **fields: str) -> Key:
        placed = self._add_fields(fields)
        return Key(placed.pk.build(fields), placed.sk.build(fields))

    def _add_fields(self, fields: Mapping[str, str]) -> "Entity":
        if (
            self.elsewhere is None
            or fields.get("workspace", DEFAULT_WORKSPACE) == DEFAULT_WORKSPACE
        ):
            return self
        return self.elsewhere

    def prefix(self, **fields: str) -> str:
        """The start of the sort keys of all items that have these fields."""
        return self.sk.prefix(fields)

    def index_keys(self, **fields: str) -> dict[str, str]:
        """Attributes that place the item in the global indexes."""
        attributes: dict[str, str] = {}
        for index, (pk, sk) in self._add_fields(fields).indexes.items():
            attributes[f"{index}pk"] = pk.build(fields)
            attributes[f"{index}sk"] = sk.build(fields)
        return attributes

    def parse(self, key: Key) -> dict[str, str] | None:
        pk, sk = self.pk.parse(key.pk), self.sk.parse(key.sk)
        if pk is not None and sk is not None:
            return {**pk, **sk}
        return None if self.elsewhere is None else self.elsewhere.parse(key)


def entity(
    name: str,
    pk: str,
    sk: str,
    title: str,
    description: str,
    **indexes: tuple[str, str] | str,
) -> Entity:
    """Declare an item of the schema. A local index has a sort key only."""
    pairs = {name: keys for name, keys in indexes.items() if not isinstance(keys, str)}
    local = {name: Pattern(keys) for name, keys in indexes.items() if isinstance(keys, str)}
    patterns = {name: (Pattern(pair[0]), Pattern(pair[1])) for name, pair in pairs.items()}
    return Entity(name, Pattern(pk), Pattern(sk), title, description, patterns, local)


def own(name: str, pk: str, sk: str, title: str, description: str) -> Entity:
    return Entity(name, Pattern(pk), Pattern(sk), title, description, ours=True)


def with_index(entity: Entity, **indexes: tuple[str, str]) -> Entity:
    patterns = {name: (Pattern(pair[0]), Pattern(pair[1])) for name, pair in indexes.items()}
    return replace(entity, indexes=patterns)


def in_workspaces(
    entity: Entity, pk: str, sk: str | None = None, **indexes: tuple[str, str]
) -> Entity:
    """Return the entity with other keys in workspaces other than the default."""
    patterns = {name: (Pattern(pair[0]), Pattern(pair[1])) for name, pair in indexes.items()}
    elsewhere = replace(
        entity,
        pk=Pattern(pk),
        sk=entity.sk if sk is None else Pattern(sk),
        indexes=patterns,
    )
    return replace(entity, elsewhere=elsewhere)


_EXP = "EXP#{experiment_id}"
_RM = "RM#{model_name}"
_WORKSPACE_RM = "RM#{workspace}#{model_name}"
_USER = "USER#{username}"
_ROLE = "ROLE#{role_id}"

EXPERIMENT = entity(
    "EXPERIMENT", _EXP, "E#META", "Experiment metadata",
    "Name, artifact location, lifecycle stage, times",
    gsi2=("WS#{workspace}", "EXP#{experiment_id}"),
    gsi3=("EXPNAME#{name}", "EXP#{experiment_id}"),
    gsi5=("WS#{workspace}#EXP", "{ordered_name}"),
)  # fmt: skip
EXPERIMENT_TAG = entity("EXPERIMENT_TAG", _EXP, "E#TAG#{key}", "Experiment tag", "Key and value")
EXPERIMENT_NAME_REV = entity(
    "EXPERIMENT_NAME_REV", _EXP, "E#NAME_REV", "Reversed name",
    "The experiment's name reversed, for searches by the end of a name",
)  # fmt: skip
RUN = entity(
    "RUN", _EXP, "R#{run_id}", "Run", "Name, status, lifecycle stage, times, user, artifact URI",
    gsi1=("RUN#{run_id}", "EXP#{experiment_id}"),
    lsi1="{stage}#{start_time}#{run_id}",
    lsi2="{start_time}#{run_id}",
    lsi3="{status}#{start_time}#{run_id}",
    lsi4="{name}#{run_id}",
    lsi5="{primary_metric}#{run_id}",
)  # fmt: skip
METRIC = entity(
    "METRIC", _EXP, "R#{run_id}#METRIC#{key}", "Latest metric", "The latest value of a metric"
)
METRIC_HISTORY = entity(
    "METRIC_HISTORY", _EXP, "R#{run_id}#MHIST#{key}#{step}#{timestamp}#{value}",
    "Metric history", "One logged value; the last segment keeps values of one step and time apart",
)  # fmt: skip
PARAM = entity("PARAM", _EXP, "R#{run_id}#PARAM#{key}", "Parameter", "Key and value of a run")
TAG = entity("TAG", _EXP, "R#{run_id}#TAG#{key}", "Run tag", "Key and value of a run")
INPUT = entity(
    "INPUT", _EXP, "R#{run_id}#INPUT#{name}", "Dataset input",
    "The tags of a dataset as input of a run; the name is the dataset's hash",
)  # fmt: skip
RUN_MODEL = entity(
    "RUN_MODEL", _EXP, "R#{run_id}#LM#{model_name}", "Logged model",
    "A model of a run; the name is the model's id after `in:` for an input, `out:` for an output",
)  # fmt: skip
TRACE = entity(
    "TRACE", _EXP, "T#{trace_id}", "Trace", "Name, status, times, previews",
    gsi1=("TRACE#{trace_id}", "EXP#{experiment_id}"),
    lsi2="T#{time}#{trace_id}",
    lsi3="{state}#{time}#{trace_id}",
    lsi4="T#{name}#{time}#{trace_id}",
)  # fmt: skip
TRACE_TAG = entity("TRACE_TAG", _EXP, "T#{trace_id}#TAG#{key}", "Trace tag", "Key and value")
SPANS = entity("SPANS", _EXP, "T#{trace_id}#SPANS", "Spans", "The spans of a trace, compressed")
DATASET = entity(
    "DATASET", _EXP, "D#{dataset_hash}", "Dataset", "Name, digest, source, schema, profile"
)
DATASET_LINK = entity(
    "DATASET_LINK", _EXP, "DLINK#{run_id}#{dataset_name}", "Dataset link",
    "A run's use of a dataset; the name is the dataset's hash",
)  # fmt: skip
METRIC_RANK = entity(
    "METRIC_RANK", _EXP, "RANK#m#{key}#{inverted_value}#{run_id}", "Metric rank",
    "Runs by a metric's value, descending",
)  # fmt: skip
PARAM_RANK = entity(
    "PARAM_RANK", _EXP, "RANK#p#{key}#{value}#{run_id}", "Param rank", "Runs by a param's value"
)
FTS = entity(
    "FTS", _EXP, "FTS#{level}#{token}#{entity_type}#{entity_id}", "Full-text row",
    "An entity whose text has a token",
    gsi2=("FTS#{token}", "{level}#{entity_type}#{entity_id}"),
)  # fmt: skip
FTS_REV = entity(
    "FTS_REV", _EXP, "FTS_REV#{entity_type}#{entity_id}#{level}#{token}", "Full-text reverse row",
    "The tokens of an entity, to remove its rows",
)  # fmt: skip
MODEL = in_workspaces(
    entity(
        "MODEL", _RM, "M#META", "Registered model", "Name, description, times",
        gsi3=("RMNAME#{model_name}", "RM#{model_name}"),
        gsi5=("RM_LIST", "{ordered_name}"),
    ),
    _WORKSPACE_RM,
    gsi3=("RMNAME#{model_name}", _WORKSPACE_RM),
    gsi5=("RM_LIST#{workspace}", "{ordered_name}"),
)  # fmt: skip
MODEL_VERSION = in_workspaces(
    entity(
        "MODEL_VERSION", _RM, "M#V#{version}", "Model version", "Source, run, status, stage",
        lsi2="{created}#{version}",
    ),
    _WORKSPACE_RM,
)  # fmt: skip
MODEL_TAG = in_workspaces(
    entity("MODEL_TAG", _RM, "M#TAG#{key}", "Model tag", "Key and value"), _WORKSPACE_RM
)
MODEL_ALIAS = in_workspaces(
    entity("MODEL_ALIAS", _RM, "M#ALIAS#{alias}", "Model alias", "A name of a version"),
    _WORKSPACE_RM,
)
WORKSPACE = entity(
    "WORKSPACE", "WORKSPACE#{workspace}", "WS#META", "Workspace", "Name and configuration"
)
USER = entity("USER", _USER, "U#META", "User", "Name, password hash, admin flag")
EXPERIMENT_PERMISSION = in_workspaces(
    entity(
        "EXPERIMENT_PERMISSION", _USER, "U#PERM#{experiment_id}", "Experiment permission",
        "A user's permission for an experiment",
        gsi4=("EXPPERM#{experiment_id}", "USER#{username}"),
    ),
    _USER,
    "U#PERM#{workspace}#{experiment_id}",
    gsi4=("EXPPERM#{workspace}#{experiment_id}", "USER#{username}"),
)  # fmt: skip
MODEL_PERMISSION = in_workspaces(
    entity(
        "MODEL_PERMISSION", _USER, "U#RPERM#{model_name}", "Registry permission",
        "A user's permission for a registered model",
        gsi4=("RMPERM#{model_name}", "USER#{username}"),
    ),
    _USER,
    "U#RPERM#{workspace}#{model_name}",
    gsi4=("RMPERM#{workspace}#{model_name}", "USER#{username}"),
)  # fmt: skip
CONFIG = entity("CONFIG", "CONFIG", "CFG#{key}", "Configuration entry", "Key and value")

# What the given patterns do not hold. A lookup item is written in the transaction of its run
# and read consistently, because a global index lags behind the table.
RUN_LOOKUP = own(
    "RUN_LOOKUP", "RUN#{run_id}", "EXP", "Run lookup", "The experiment of a run, read consistently"
)
TRACE_LOOKUP = own(
    "TRACE_LOOKUP", "TRACE#{trace_id}", "EXP", "Trace lookup",
    "The experiment of a trace, read consistently",
)  # fmt: skip
LOGGED_MODEL = own(
    "LOGGED_MODEL", _EXP, "LMODEL#{model_id}", "Logged model by id",
    "Name, type, status, lifecycle stage, times, params, tags",
)  # fmt: skip
LOGGED_MODEL_METRIC = own(
    "LOGGED_MODEL_METRIC", _EXP, "LMODEL#{model_id}#METRIC#{key}#{step}#{timestamp}#{run_id}",
    "Metric of a logged model", "A value that a run logged for a model",
)  # fmt: skip
MODEL_LOOKUP = own(
    "MODEL_LOOKUP", "LMODEL#{model_id}", "EXP", "Logged model lookup",
    "The experiment of a logged model, read consistently",
)  # fmt: skip
MORE_SPANS = own(
    "MORE_SPANS", _EXP, "T#{trace_id}#SPANS#{batch}#{number}", "More spans",
    "A part of a later or larger batch of spans; the trace's item names the batches it has",
)  # fmt: skip
EXPERIMENT_NAME = own(
    "EXPERIMENT_NAME", "NAME#EXP#{workspace}#{name}", "NAME", "Experiment name",
    "Reservation: makes a name unique and finds its experiment consistently",
)  # fmt: skip
SUMMARY = own(
    "SUMMARY", _EXP, "S#{run_id}#{kind}#{number}", "Run summary",
    "Latest metrics (M) or params, tags and inputs (P) of a run, packed; searches read these",
)  # fmt: skip
SCORER = own("SCORER", _EXP, "SCORER#{name}", "Scorer", "Its id; reserves the name")
SCORER_VERSION = own(
    "SCORER_VERSION", _EXP, "SCORER#{name}#{version}", "Scorer version", "The serialized scorer"
)
ONLINE_SCORING = own(
    "ONLINE_SCORING", "SCORER#{scorer_id}", "ONLINE", "Online scoring", "Sample rate and filter"
)
ISSUE = own(
    "ISSUE", _EXP, "ISSUE#{issue_id}", "Issue", "Name, description, status, severity, causes"
)
ISSUE_LOOKUP = own(
    "ISSUE_LOOKUP", "ISSUE#{issue_id}", "EXP", "Issue lookup",
    "The experiment of an issue, read consistently",
)  # fmt: skip
EVALUATION_DATASET = own(
    "EVALUATION_DATASET", "EVALS#{workspace}", "EVAL#{dataset_id}", "Evaluation dataset",
    "Name, digest, times, tags, schema, profile, experiments",
)  # fmt: skip
EVALUATION_RECORD = own(
    "EVALUATION_RECORD", "EVAL#{dataset_id}", "REC#{input_hash}", "Evaluation record",
    "Inputs, outputs, expectations, tags; one for equal inputs",
)  # fmt: skip
WEBHOOK = own(
    "WEBHOOK", "WEBHOOKS#{workspace}", "HOOK#{webhook_id}", "Webhook",
    "Name, URL, events, status, the secret encrypted",
)  # fmt: skip
ASSET_RUN = own(
    "ASSET_RUN", "ASSET#{database}#{asset}", "RUN#{run_id}#{name}", "Use of an asset",
    "A run that used a version of a Vitrine asset: experiment, dataset, version, path, digest",
)  # fmt: skip
MODEL_CLAIM = in_workspaces(
    own(
        "MODEL_CLAIM", _RM, "CLAIM", "Claim on a model name",
        "Who prepares the items of a model that does not exist yet; never beside a model",
    ),
    _WORKSPACE_RM,
)  # fmt: skip
MODEL_VERSION_TAG = in_workspaces(
    own("MODEL_VERSION_TAG", _RM, "M#VTAG#{version}#{key}", "Model version tag", "Key and value"),
    _WORKSPACE_RM,
)
MODEL_FTS = in_workspaces(
    replace(FTS, name="MODEL_FTS", pk=Pattern(_RM), title="Full-text row of a model", ours=True),
    _WORKSPACE_RM,
    gsi2=("FTS#{token}", "{level}#{entity_type}#{entity_id}"),
)
MODEL_FTS_REV = in_workspaces(
    replace(FTS_REV, name="MODEL_FTS_REV", pk=Pattern(_RM), title="The same, reverse", ours=True),
    _WORKSPACE_RM,
)
WORKSPACE_NAME = own(
    "WORKSPACE_NAME", "WORKSPACES", "WS#{workspace}", "Workspace in the list",
    "Lists workspaces consistently, without an index",
)  # fmt: skip
WORKSPACE_USED = own(
    "WORKSPACE_USED", "WORKSPACES", "USED#{workspace}", "Workspace that has used the table",
    "Written before its first experiment, model or webhook in the table",
)  # fmt: skip

USER_GRANT = with_index(
    own(
        "USER_GRANT", _USER, "U#GRANT#{workspace}#{resource_type}#{pattern}", "Other permission",
        "A user's permission for a workspace, scorer, prompt or resource of another type",
    ),
    gsi4=("GRANT#{workspace}#{resource_type}#{pattern}", "USER#{username}"),
)  # fmt: skip
USER_ROLE = own(
    "USER_ROLE", _USER, "U#ROLE#{role_id}", "Role of a user", "The roles that a user has"
)
USER_LISTED = own(
    "USER_LISTED", "USERS", "U#{username}", "User in the list", "Lists users consistently"
)
USER_LOOKUP = own(
    "USER_LOOKUP", "USERID#{user_id}", "USER", "User lookup", "The name of the user with an id"
)
ROLE = own("ROLE", _ROLE, "ROLE#META", "Role", "Name, workspace, description")
ROLE_GRANT = own(
    "ROLE_GRANT", _ROLE, "G#{resource_type}#{pattern}", "Permission of a role",
    "What the users of a role may do",
)  # fmt: skip
ROLE_USER = own("ROLE_USER", _ROLE, "U#{username}", "User of a role", "The users with a role")
ROLE_NAME = own(
    "ROLE_NAME", "NAME#ROLE#{workspace}#{name}", "NAME", "Role name",
    "Reservation: makes a name unique in its workspace",
)  # fmt: skip
ROLE_LISTED = own("ROLE_LISTED", "ROLES", "R#{role_id}", "Role in the list", "Lists roles")
GRANT_LOOKUP = own(
    "GRANT_LOOKUP", "GRANT#{grant_id}", "GRANT", "Permission lookup",
    "The key of the permission with an id",
)  # fmt: skip

ENTITIES: tuple[Entity, ...] = tuple(
    value for value in globals().values() if isinstance(value, Entity)
)
GIVEN_ENTITIES = tuple(kind for kind in ENTITIES if not kind.ours)


def parse(key: Key) -> tuple[Entity, dict[str, str]]:
    """The type of the item at a key, and the fields of the key.

    Raises:
        ValueError: the key has none of the declared patterns.
    """
    for kind in ENTITIES:
        fields = kind.parse(key)
        if fields is not None:
            return kind, fields
    raise ValueError(f"no entity has the key {key.pk!r}, {key.sk!r}")
