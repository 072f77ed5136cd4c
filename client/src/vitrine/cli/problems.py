"""Why a file that a command reads is invalid, in words for people."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "is required",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
}


def problem_of(error: ValidationError) -> str:
    """Return the first problem, after the field that has it; pydantic's words name Python types."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    message = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{where}: {_SENTENCES.get(first['type'], message)}"
