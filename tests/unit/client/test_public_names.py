"""The names and signatures of the client library that users write do not change."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import vitrine
from pydantic import BaseModel

from docs.client_models import MODULE, client_models, listed_models

RECORDED = Path(__file__).with_name("public_names.txt")
"""The names of the first release. A line is removed only with a release that may break users."""
FAMILIES = re.compile(
    r"vitrine(\.(client|errors|retry|metadata_filters|\w*models|resources\.\w+))?"
)


def public_names() -> set[str]:
    names = [
        vitrine.__name__,
        *(m.name for m in pkgutil.walk_packages(vitrine.__path__, "vitrine.")),
    ]
    modules = [importlib.import_module(name) for name in names if FAMILIES.fullmatch(name)]
    return {_plain(line) for module in modules for line in _lines(module)}


def _lines(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        if name.startswith("_") or not getattr(value, "__module__", "").startswith("vitrine."):
            continue
        if inspect.isfunction(value):
            yield f"{module.__name__} {name}{inspect.signature(value)}"
        elif inspect.isclass(value):
            members = _members(value)
            yield from (f"{module.__name__} {name}{line}" for line in members)


def _members(kind: type[object]) -> Iterator[str]:
    if issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            default = "" if field.is_required() else " = ..."
            yield f".{name}: {field.annotation}{default}"
    else:
        yield ""
        if inspect.isfunction(kind.__init__):
            yield str(inspect.signature(kind))
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or hasattr(BaseModel, name):
            continue
        if isinstance(member, property):
            yield f".{name}"
        elif inspect.isfunction(member) or inspect.ismethod(member):
            yield f".{name}{inspect.signature(member)}"


def _plain(line: str) -> str:
    """Return the line with the names of types only: a class may move to another module."""
    module, _, rest = line.partition(" ")
    rest = re.sub(r"<class '([^']+)'>|ForwardRef\('([^']+)'[^)]*\)", r"\1\2", rest)
    rest = re.sub(r"<bound method (\S+) of <[^>]*>>", r"\1", rest)
    rest = re.sub(r"<(?:built-in )?function (\S+?)(?: at \w+)?>", r"\1", rest)
    return f"{module} " + re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", _after_dots, rest)


def _after_dots(match: re.Match[str]) -> str:
    """Drop the path before a type; a member's class is kept."""
    return match[0] if match.start() == 0 else ""


def test_every_public_name_still_has_its_signature() -> None:
    recorded = set(RECORDED.read_text(encoding="utf-8").splitlines())
    assert sorted(recorded - public_names()) == []


def test_the_models_are_up_to_date() -> None:
    assert MODULE.read_text(encoding="utf-8") == client_models(), "run: make docs"


def test_a_model_that_a_module_imports_has_the_schema_of_its_name(tmp_path: Path) -> None:
    source = "from vitrine.api_models import DeletedApiKey, Unknown\nbody = api.TagsBody()\n"
    (tmp_path / "resources.py").write_text(source, encoding="utf-8")
    models = listed_models(tmp_path)
    assert models["DeletedApiKey"] == {"schema": "DeletedApiKeyReply"}
    assert models["TagsBody"] == {"schema": "TagsBody", "base": "vitrine.wire.Body"}
    assert "Unknown" not in models
