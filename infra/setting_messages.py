"""Messages about invalid settings, with the terms of JSON: list, object, string, number."""

import difflib
import json
import re
from collections.abc import Iterable
from typing import Any

from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from infra.setting_types import WORDS, Throttle

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
_CDK = re.compile(r"[@:]")
# Names of context that the CDK command reads itself. Source: its `cdk.json` reference.
_CDK_PLAIN = ("acknowledged-issue-numbers", "cli-telemetry")


def is_name_of_cdk(name: str) -> bool:
    """Return whether a name of context is one of CDK's own, such as `@aws-cdk/core:…`."""
    return _CDK.search(name) is not None or name in _CDK_PLAIN


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most similar to this one; case and hyphens are ignored."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return max(known, key=lambda each: difflib.SequenceMatcher(None, each.lower(), plain).ratio())


def refusal(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the place and the problem of the first error, to be added to the stage's name."""
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"] if part != "[key]"]
    if not path:  # settings that contradict each other: the message names them
        return f": {first['ctx']['error']}" if "ctx" in first else f": {first['msg']}"
    place = ".".join(path)
    if first["type"] == "extra_forbidden":
        known = _names(model if len(path) == 1 else Throttle)
        return f".{place}: is not a setting; the nearest is {nearest_name(path[-1], known)}"
    if first["type"] == "missing":
        return f".{place}: is missing"
    return f".{place}: {_rule(first, path, model)} (given: {_shown(first['input'])})"


def _names(model: type[BaseModel]) -> list[str]:
    return [str(field.alias) for name, field in model.model_fields.items() if name != "stage"]


def _rule(error: ErrorDetails, path: list[str], model: type[BaseModel]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return f"must be {WORDS[context['pattern']]}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return f"must be {context['expected']}"
    fields = {str(field.alias): field for field in model.model_fields.values()}
    if len(path) == 1 and fields[path[0]].annotation is int:
        return _whole_number(fields[path[0]])
    if kind == "greater_than_equal":
        return f"must be a whole number, at least {context['ge']}"
    return _KINDS.get(kind.partition("_")[0], error["msg"])


def _whole_number(field: FieldInfo) -> str:
    least = next((each.ge for each in field.metadata if isinstance(each, Ge)), None)
    most = next((each.le for each in field.metadata if isinstance(each, Le)), None)
    if most is None:
        return f"must be a whole number, at least {least}"
    return f"must be a whole number from {least} to {most}"


def _shown(value: Any) -> str:
    shown = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
