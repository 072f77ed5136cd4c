"""Parses values of `-c name=value`, which the CDK command passes as texts."""

import contextlib
import json
from collections.abc import Mapping
from typing import get_origin

from pydantic import BaseModel

_RULES = {
    tuple: "must be a list: comma-separated, or JSON with its quotes",
    dict: "must be an object: JSON with its quotes",
}


class TextError(Exception):
    """A text is not a list or object; the message names the setting."""


def parsed(given: Mapping[str, object], model: type[BaseModel]) -> dict[str, object]:
    """Return the values of settings by the types that a model declares.

    Raises:
        TextError: a text is not valid for its setting.
    """
    kinds = {
        str(field.alias): get_origin(field.annotation) or field.annotation
        for field in model.model_fields.values()
    }
    return {
        name: _parsed(name, value, kinds[name]) if isinstance(value, str) else value
        for name, value in given.items()
    }


def _parsed(name: str, text: str, kind: object) -> object:
    if kind is str:
        return text
    if kind is tuple and not text.lstrip().startswith("["):
        return [each.strip() for each in text.split(",") if each.strip()]
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    if kind in (tuple, dict):
        # A shell removes quotes that are not quoted themselves.
        raise TextError(f"{name}: {_RULES[kind]} (given: {text!r})")
    return text
