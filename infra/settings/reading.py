"""Reads the settings of a stage from the context, and words the refusal of a wrong one.

Messages use the terms of JSON: list, object, string, number.
"""

import contextlib
import difflib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import get_args, get_origin

from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from infra.settings.contradictions import contradictions, resources_elsewhere, without_effect
from infra.settings.model import ROOT, Settings
from infra.settings.values import WORDS

# A value of cdk.json may be a long list; its beginning identifies it.
_SHOWN_CHARS = 200
_KINDS = {
    "tuple": "must be a list",
    "dict": "must be an object",
    "model": "must be an object",
    "string": "must be a string",
    "int": "must be a whole number",
    "bool": "must be true or false",
}
"""The rule by the first word of a pydantic error's type."""
_TEXT_RULES: dict[object, str] = {
    tuple: "must be a list: comma-separated, or JSON with its quotes",
    dict: "must be an object: JSON with its quotes",
}
# Names of context that the CDK command reads itself. Source: its `cdk.json` reference.
_CDK_NAMES = ("acknowledged-issue-numbers", "cli-telemetry")
_FIELDS = {str(field.alias): field for field in Settings.model_fields.values()}
_OBJECT = TypeAdapter(dict[str, object])
_STAGES = TypeAdapter(dict[str, dict[str, object]])


class SettingsError(Exception):
    """A setting is missing, unknown or wrong; the message names it."""


def default_context(path: Path = ROOT / "cdk.json") -> dict[str, object]:
    """The context of cdk.json, which the CDK command passes and a plain `python app.py` does not.

    Raises:
        SettingsError: the file is not valid.
    """
    try:
        content = _OBJECT.validate_json(path.read_bytes())
        return _OBJECT.validate_python(content.get("context"))
    except (OSError, ValidationError) as error:
        fact = "must be an object with an object `context`"
        if isinstance(error, ValidationError) and error.errors()[0]["type"] == "json_invalid":
            fact = error.errors()[0]["msg"]  # with the line
        raise SettingsError(f"{path.name}: {fact}") from error


def read_settings(
    context: Callable[[str], object], *, names: Iterable[str] = (), region: str | None = None
) -> Settings:
    """The settings of the stage that the context names.

    `names` are all names in the context, if they are known, and `region` is the stage's.

    Raises:
        SettingsError: the stage or a setting is unknown, or a setting is wrong, without effect,
            or of another region.
    """
    stage, of_stage = named_stage(context)
    for name in names:
        if name not in (*_FIELDS, "stages", *_CDK_NAMES) and not re.search("[@:]", name):
            raise SettingsError(f"{name}: {_nearest_setting(name, _FIELDS)}")
    if "stage" in of_stage:
        raise SettingsError(f"stages.{stage}.stage: a stage is named by its key")
    values = {name: context(name) for name in _FIELDS if name != "stage"}
    of_command = {
        name: _parse_text(stage, name, value) if isinstance(value, str) else value
        for name, value in values.items()
        if value is not None
    }
    try:
        settings = Settings.model_validate({**of_stage, **of_command, "stage": stage})
    except ValidationError as error:
        raise SettingsError(f"stages.{stage}.{_refusal(error)}") from error
    for fact in (
        *contradictions(settings),
        *without_effect(settings, of_stage, of_command),
        *resources_elsewhere(settings, region),
    ):
        raise SettingsError(f"stages.{stage}: {fact}")
    return settings


def named_stage(context: Callable[[str], object]) -> tuple[str, dict[str, object]]:
    """Return the name of the stage, and its entry in cdk.json.

    Raises:
        SettingsError: no stage is named, or an unknown one.
    """
    stage = context("stage")
    try:
        stages = _STAGES.validate_python(context("stages"))
    except ValidationError as error:
        raise SettingsError("stages: must be an object of objects, by name of stage") from error
    if stage is None:
        raise SettingsError(f"stage: not given; add -c stage=NAME ({', '.join(sorted(stages))})")
    if not isinstance(stage, str) or stage not in stages:
        raise SettingsError(f"stage: {stage!r} is not one of {', '.join(sorted(stages))}")
    return stage, stages[stage]


def _parse_text(stage: str, name: str, text: str) -> object:
    """Return the value of `-c name=text`, which the CDK command passes as a text."""
    annotation = _FIELDS[name].annotation
    kind = get_origin(annotation) or annotation
    if kind is str:
        return text
    if kind is tuple and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    if rule := _TEXT_RULES.get(kind):
        # A shell removes quotes that are not quoted themselves.
        raise SettingsError(f"stages.{stage}.{name}: {rule} (given: {text!r})")
    return text


def _nearest_setting(name: str, known: Iterable[str]) -> str:
    """Return the refusal of an unknown name; similarity ignores case and hyphens."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    nearest = max(
        known, key=lambda other: difflib.SequenceMatcher(None, other.lower(), plain).ratio()
    )
    return f"is not a setting; the nearest is {nearest}"


def _refusal(error: ValidationError) -> str:
    """Return the place and the problem of the first error."""
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"] if part != "[key]"]
    place = ".".join(path)
    if first["type"] == "extra_forbidden":
        # A setting that is an object of models has their type as its last argument.
        model = get_args(_FIELDS[path[0]].annotation)[-1] if len(path) > 1 else Settings
        known = [str(field.alias) for name, field in model.model_fields.items() if name != "stage"]
        return f"{place}: {_nearest_setting(path[-1], known)}"
    if first["type"] == "missing":
        return f"{place}: is missing"
    value = first["input"]
    shown = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    if len(shown) > _SHOWN_CHARS:
        shown = f"{shown[:_SHOWN_CHARS]}…"
    return f"{place}: {_rule(first, path)} (given: {shown})"


def _rule(error: ErrorDetails, path: list[str]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return f"must be {WORDS[context['pattern']]}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if len(path) == 1 and _FIELDS[path[0]].annotation is int:
        bounds = _FIELDS[path[0]].metadata
        least = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
        most = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
        span = f", at least {least}" if most is None else f" from {least} to {most}"
        return f"must be a whole number{span}"
    if kind == "greater_than_equal":
        return f"must be a whole number, at least {context['ge']}"
    return _KINDS.get(kind.partition("_")[0], error["msg"])
