"""Keys, declarations and formats of the specification."""

import dataclasses
import json
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.processing.inspection import inspect
from backend.processing.readers.checks import CHECKS
from backend.processing.readers.models import DOCUMENT_READERS, READERS
from backend.processing.readers.units import RULES
from backend.spec.buckets import BUCKETS
from backend.spec.formats import FORMAT_OF, FORMATS, Format, reason_not_inspected
from backend.spec.functions import FUNCTIONS, pipeline_functions
from backend.spec.keys import COMPOSITES, Composite, active, archived
from backend.spec.queues import QUEUES
from backend.spec.routes import ROUTES
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.shipped import SHIPPED
from backend.spec.state_machine import definition
from backend.spec.tables import TABLES
from tests.unit.processing.samples import Asset, cube_stl
from tests.unit.processing.test_boxes import BOXES
from tests.unit.processing.test_robots import FILES as ROBOTS
from tests.unit.processing.test_units import collada

EVERYTHING = "import backend.spec.functions, backend.spec.routes, backend.spec.search_indexes"
ALLOWED_MS = 50
DATACLASSES_MS = 12
"""The time in which `dataclasses` was imported on the machine where the limit was set."""


def _run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", *options, "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_importing_the_declarations_loads_nothing_but_the_standard_library() -> None:
    code = f"{EVERYTHING}; import json; print(json.dumps(sorted(sys.modules)))"
    loaded = {name.partition(".")[0] for name in json.loads(_run(code).stdout)}
    allowed = sys.stdlib_module_names | {"backend", "__main__"}
    # A site-packages .pth file may load its own finder into every process.
    bare = json.loads(_run("import json; print(json.dumps(sorted(sys.modules)))").stdout)
    assert loaded - allowed - {name.partition(".")[0] for name in bare} == set()


def _import_ratio() -> float:
    """The time to import all declarations in units of the time to import `dataclasses`."""
    spent = {"backend": 0, "dataclasses": 0}
    for line in _run(EVERYTHING, "-X", "importtime").stderr.splitlines():
        own, cumulative, name = (part.strip() for part in line.partition(":")[2].split("|"))
        if name == "dataclasses":
            spent["dataclasses"] = int(cumulative)
        elif name.startswith("backend"):
            spent["backend"] += int(own)
    return (spent["backend"] + spent["dataclasses"]) / spent["dataclasses"]


def test_importing_the_declarations_takes_less_than_50_ms() -> None:
    assert min(_import_ratio() for _ in range(5)) < ALLOWED_MS / DATACLASSES_MS


@pytest.mark.parametrize(
    "declared",
    [TABLES, BUCKETS, QUEUES, SECRETS, SETTINGS, FUNCTIONS, ROUTES],
    ids=["tables", "buckets", "queues", "secrets", "settings", "functions", "routes"],
)
def test_a_name_is_declared_once(declared: tuple[object, ...]) -> None:
    names = [_identity(value) for value in declared]
    assert len(set(names)) == len(names)


def _identity(value: object) -> str:
    return str(getattr(value, "key", None) or getattr(value, "name", ""))


def test_declarations_cannot_be_changed_and_path_parameters_are_letters() -> None:
    for value in (TABLES[0], BUCKETS[0], QUEUES[0], SECRETS[0], SETTINGS[0], FUNCTIONS[0]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.name = "other"  # pyright: ignore[reportAttributeAccessIssue]
    for route in ROUTES:
        *parts, last = route.path.strip("/").split("/")
        for part in (*parts, last.replace("+}", "}")):  # only the last one may take what follows
            if part.startswith("{"):
                assert part.endswith("}")
                assert all(name.isalpha() for name in part[1:-1].split(":"))
            else:
                assert "{" not in part


def test_a_verb_names_one_route_and_tables_and_pipelines_are_declared() -> None:
    verbs = [(route.domain, route.name) for route in ROUTES]
    assert len(set(verbs)) == len(verbs)
    for table in TABLES:
        assert table.description.endswith(".")
    for index in SEARCH_INDEXES:
        assert set(index.sources) <= set(TABLES)
    assert {item.function for item in SHIPPED} == set(pipeline_functions())


# Few characters, those that matter: separators, the escape, its digits, a letter, a wide one.
PART = st.text(alphabet=":_%#/235Aaé", max_size=8)


def _accepted(key: Composite, position: int) -> st.SearchStrategy[str]:
    """Parts that `build` takes: only the last one, and encoded ones, may hold the separator."""
    last = position == len(key.parts) - 1
    if last or key.parts[position] in key.encoded:
        return PART
    return PART.filter(lambda text: key.separator not in text)


@st.composite
def keys_with_parts(draw: st.DrawFn) -> tuple[Composite, tuple[str, ...]]:
    """A composite and parts for it."""
    key = draw(st.sampled_from(COMPOSITES))
    return key, tuple(draw(_accepted(key, position)) for position in range(len(key.parts)))


@st.composite
def keys_with_two_sets_of_parts(
    draw: st.DrawFn,
) -> tuple[Composite, tuple[str, ...], tuple[str, ...]]:
    """A composite and two tuples of parts for it, which may be equal."""
    key, parts = draw(keys_with_parts())
    others = tuple(
        draw(st.one_of(st.just(part), _accepted(key, position)))
        for position, part in enumerate(parts)
    )
    return key, parts, others


@given(keys_with_parts())
def test_a_key_is_parsed_into_its_parts(given_parts: tuple[Composite, tuple[str, ...]]) -> None:
    key, parts = given_parts
    assert key.parse(key.build(*parts)) == parts


@given(keys_with_two_sets_of_parts())
def test_different_parts_never_make_the_same_key(
    given_parts: tuple[Composite, tuple[str, ...], tuple[str, ...]],
) -> None:
    key, parts, others = given_parts
    assert (key.build(*parts) == key.build(*others)) == (parts == others)


@given(keys_with_two_sets_of_parts(), st.data())
def test_a_prefix_finds_the_keys_with_its_parts_and_no_others(
    given_parts: tuple[Composite, tuple[str, ...], tuple[str, ...]], data: st.DataObject
) -> None:
    key, parts, others = given_parts
    length = data.draw(st.integers(min_value=0, max_value=len(key.parts) - 1))
    startswith = key.build(*others).startswith(key.prefix(*parts[:length]))
    assert startswith == (others[:length] == parts[:length])


@pytest.mark.parametrize("key", COMPOSITES, ids=lambda key: key.name)
def test_a_part_that_holds_the_separator_is_refused_by_name(key: Composite) -> None:
    parts = ["a"] * len(key.parts)
    parts[0] = f"a{key.separator}b"
    with pytest.raises(ValueError, match=key.parts[0]):
        key.build(*parts)
    if len(key.parts) > 1:
        with pytest.raises(ValueError, match=key.parts[0]):
            key.prefix(parts[0])


@pytest.mark.parametrize("key", COMPOSITES, ids=lambda key: key.name)
def test_a_wrong_number_of_parts_is_refused(key: Composite) -> None:
    with pytest.raises(ValueError, match="parts"):
        key.build(*["a"] * (len(key.parts) + 1))
    with pytest.raises(ValueError, match="parts"):
        key.prefix(*["a"] * len(key.parts))
    with pytest.raises(ValueError, match=key.name):
        key.parse("a")


def test_a_file_key_is_byte_identical_to_the_data_models() -> None:
    key = next(key for key in COMPOSITES if key.name == "databaseId:assetId:filePath")
    assert key.build("db", "a1", "/x:y%3A/z.glb") == "db:a1:/x:y%3A/z.glb"


@given(st.text(alphabet="ab-_.#", max_size=12).filter(lambda text: "#" not in text))
def test_an_archived_partition_names_its_database(database_id: str) -> None:
    assert active(archived(database_id)) == active(database_id) == database_id
    assert archived(database_id) != database_id


@pytest.mark.parametrize("format_", FORMATS, ids=lambda each: each.name)
def test_the_names_of_a_format_resolve(format_: Format) -> None:
    is_read = format_.tier != "Stored"
    assert is_read == (format_.reader in {*READERS, *DOCUMENT_READERS})
    assert format_.check in {"", *CHECKS}
    assert format_.units in {"", *RULES}
    assert all(find_spec(name) for name in format_.libraries.split())
    re.compile(format_.start)
    for extension in format_.extensions.split():
        assert FORMAT_OF[extension] is format_  # in one row only
        reason = reason_not_inspected(extension)
        assert (reason is None) == is_read
        assert format_.convert_to in (reason or "")


@pytest.mark.parametrize(
    ("name", "data", "is_unverified"),
    [
        ("a.ase", BOXES["ase"][1], True),
        ("a.off", BOXES["off"][1], True),
        ("a.amf", BOXES["amf of feet"][1], True),
        ("a.obj", BOXES["obj"][1], None),
        ("a.glb", BOXES["glb"][1], None),
        ("a.sdf", ROBOTS["world.sdf"][0], None),
        ("a.xml", ROBOTS["cheetah.xml"][0], None),
        ("a.xml", collada(1, ""), None),
        ("a.xml", BOXES["amf of feet"][1], True),
    ],
)
def test_facts_that_no_second_program_confirms_are_unverified(
    name: str, data: str | bytes, is_unverified: bool | None
) -> None:
    content = data if isinstance(data, bytes) else data.encode()
    facts = inspect(name, content, Asset(**{"parts/cube__stl": cube_stl()})).facts
    assert facts
    assert facts.get("unverified") is is_unverified


def test_steps_that_only_an_outage_fails_outlast_it_equally_long() -> None:
    states = definition("arn:aws:lambda:eu-central-1:111122223333:function:f")["States"]
    steps = states["Pipelines"]["ItemProcessor"]["States"]
    pauses = [
        {name: value for name, value in step["Retry"][-1].items() if name != "ErrorEquals"}
        for step in (states["ProcessOutput"], steps["Lambda"], steps["EarlierOutput"])
    ]
    assert pauses[0] == pauses[1] == pauses[2]
