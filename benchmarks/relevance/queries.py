"""One hundred queries and their judgements. They were committed before any query was tuned.

Change neither a query nor a judgement together with the code that they measure.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks.relevance.corpus import Thing
from benchmarks.relevance.judging import (
    Grade,
    Query,
    called,
    demanded,
    file_named,
    files,
    files_with,
    numbered,
    products,
    where,
)


def _texts(kind: str, queries: dict[str, Grade]) -> Iterator[Query]:
    return (Query(kind, {"query": text}, grade) for text, grade in queries.items())


def _filtered(kind: str, *queries: tuple[dict[str, Any], Grade]) -> Iterator[Query]:
    return (Query(kind, body, grade) for body, grade in queries)


_GEARS = ("helical gear", "bevel gear", "worm gear", "gear rack", "gear pump", "landing gear")

EXACT_IDS = _texts(
    "exact id",
    {
        "69c4ea17-7322-4333-8762-1fb3a8c40a7d": numbered(7),
        "2e024d3b-bcb1-406c-a9c2-1c10787612d7": numbered(9876),
        "4b4a3d44-a2e5-46d9-97b8-a34fac4b589d": numbered(14141),
        "0AE9802B-23EC-4370-8090-1E65F85BADD5": numbered(5555),
        "glTF2-BoxTextured-glTF-Binary": where(
            lambda thing: thing.asset_id == "glTF2-BoxTextured-glTF-Binary"
        ),
        "GR-56433-D": numbered(7),
        "rg-53046-d": numbered(1234),
        "AS-21055-A": numbered(12345),
        "AX-23579-B": numbered(14141),
        "HG-63081-C": numbered(19999),
    },
)

EXACT_NAMES = _texts(
    "exact name",
    {
        "gear_rack_front_215_v4": called(
            "gear_rack_front_215_v4", product="gear rack", variant="front 215"
        ),
        "robot_gripper_front_75_v1": called(
            "robot_gripper_front_75_v1", product="robot gripper", variant="front 75"
        ),
        "Fossil skull right 50": called(
            "Fossil skull right 50", product="fossil skull", variant="right 50"
        ),
        "pipe elbow lower 380": called(
            "Pipe elbow lower 380", product="pipe elbow", variant="lower 380"
        ),
        "AircraftSeatLeft30": called(
            "AircraftSeatLeft30", product="aircraft seat", variant="left 30"
        ),
        "PF-76000-A Pipe Flange": called("PF-76000-A Pipe Flange"),
        "WF-17063-B Window Frame": called("WF-17063-B Window Frame"),
        "HelicalGearFront315": called(
            "HelicalGearFront315", product="helical gear", variant="front 315"
        ),
        "Landing Gear, rear 365": called(
            "Landing Gear, rear 365", product="landing gear", variant="rear 365"
        ),
        "AmphoraUpper220": called("AmphoraUpper220", product="amphora", variant="upper 220"),
        "CesiumMilkTruck": called("CesiumMilkTruck"),
        "Mesh_PrimitiveMode": called("Mesh_PrimitiveMode"),
    },
)

PREFIXES = _texts(
    "prefix",
    {
        "impel": products("impeller"),
        "cranksh": products("crankshaft"),
        "excav": products("excavator bucket"),
        "centrif": products("centrifugal pump"),
        "amph": products("amphora"),
        "flyw": products("flywheel"),
        "hydr cyl": products("hydraulic cylinder"),
        "planet": products("planetary gearbox"),
        "roman co": products("roman coin"),
        "HG-6308": where(lambda thing: thing.part_number.startswith("HG-6308")),
        "CesiumMi": where(lambda thing: thing.name == "CesiumMilkTruck"),
        "BoxTex": where(lambda thing: thing.name.startswith("BoxTex")),
    },
)

INNER_PARTS = _texts(
    "inner part",
    {
        "shaft": products("shaft coupling", also=("crankshaft", "camshaft")),
        "lamp": products("desk lamp", "street lamp", also=("lampshade",)),
        "wheel": products("wheel hub", also=("flywheel",)),
        "shelf": products("bookshelf"),
        "rail": products("handrail"),
        "rbine": products("turbine blade"),
        "ilktr": where(lambda thing: thing.name == "CesiumMilkTruck"),
        "rifugal": products("centrifugal pump"),
        "light": products("headlight lens"),
        "phora": products("amphora"),
        "gear": products(*_GEARS, also=("planetary gearbox",)),
        "6308": where(lambda thing: "6308" in thing.part_number),
    },
)

TYPOS = _texts(
    "typo",
    {
        "helcial gear": products("helical gear"),
        "impeler": products("impeller"),
        "cranshaft": products("crankshaft"),
        "centrifgal pump": products("centrifugal pump"),
        "hydrualic cylinder": products("hydraulic cylinder"),
        "ship propellor": products("ship propeller"),
        "brake calliper": products("brake caliper"),
        "roller bearring": products("roller bearing"),
        "shaft couplng": products("shaft coupling"),
        "exaust manifold": products("exhaust manifold"),
        "radiater": products("radiator"),
        "spiral staircse": products("spiral staircase"),
        "stone lantren": products("stone lantern"),
        "control cabnet": products("control cabinet"),
        "exhuast manifld": products("exhaust manifold"),
        "kylinder head": products("cylinder head"),
    },
)

SEVERAL_WORDS = _texts(
    "several words",
    {
        "marble statue": products("marble statue"),
        "gear pump": products("gear pump"),
        "gear pump brass": where(
            lambda thing: (thing.product, thing.material) == ("gear pump", "brass"),
            product="gear pump",
            of_files=1,
        ),
        "ball valve nordwerk": where(
            lambda thing: (thing.product, thing.maker) == ("ball valve", "Nordwerk"),
            product="ball valve",
            of_files=1,
        ),
        "helical gear bronze released": where(
            lambda thing: (
                (thing.product, thing.material, thing.state)
                == ("helical gear", "bronze", "released")
            ),
            product="helical gear",
            of_files=1,
        ),
        "street lamp falcon": where(
            lambda thing: (thing.product, thing.project) == ("street lamp", "Falcon"),
            product="street lamp",
            of_files=1,
        ),
        "desk lamp walnut prototype": where(
            lambda thing: (
                (thing.product, thing.material, thing.state) == ("desk lamp", "walnut", "prototype")
            ),
            product="desk lamp",
            of_files=1,
        ),
        "pump housing cast iron acme": where(
            lambda thing: (
                (thing.product, thing.material, thing.maker)
                == ("pump housing", "cast iron", "Acme Castings")
            ),
            product="pump housing",
            of_files=1,
        ),
        "engine block titanium vulcan": where(
            lambda thing: (
                (thing.product, thing.material, thing.maker)
                == ("engine block", "titanium grade 5", "Vulcan Forge")
            ),
            product="engine block",
            of_files=1,
        ),
        "bruckner piston": where(
            lambda thing: (thing.product, thing.maker) == ("piston", "Brückner & Söhne"),
            product="piston",
            of_files=1,
        ),
        "temple facade": products("temple façade"),
        "block engine": products("engine block"),
        "duck triangulate": files_with("duck_triangulate"),
        "wuson blitz": files_with("wusonblitz"),
    },
)

METADATA_VALUES = _filtered(
    "metadata value",
    (
        {"metadataQuery": "part_number:GP-80065-C"},
        demanded(lambda thing: thing.part_number == "GP-80065-C"),
    ),
    (
        {"query": "gear pump", "metadataQuery": "manufacturer:Castellani AND material:brass"},
        demanded(
            lambda thing: (
                (thing.product, thing.maker, thing.material) == ("gear pump", "Castellani", "brass")
            )
        ),
    ),
    (
        {"query": "statue", "metadataQuery": "material:carrara marble"},
        demanded(
            lambda thing: (thing.product, thing.material) == ("marble statue", "carrara marble")
        ),
    ),
    (
        {"query": "heat exchanger", "metadataQuery": "project:Plant* AND material:brass"},
        demanded(
            lambda thing: (
                (thing.product, thing.project, thing.material)
                == ("heat exchanger", "Plant Rotterdam", "brass")
            )
        ),
    ),
    (
        {
            "query": "impeller",
            "metadataFilters": [{"key": "project", "op": "eq", "value": "Aurora"}],
        },
        demanded(lambda thing: (thing.product, thing.project) == ("impeller", "Aurora")),
    ),
    (
        {"query": "tanaka amphora"},
        where(
            lambda thing: (thing.product, thing.maker) == ("amphora", "Tanaka Seiki"),
            product="amphora",
            of_files=1,
        ),
    ),
    ({"query": "PX-16713-C"}, where(lambda thing: thing.part_number == "PX-16713-C")),
    (
        {"query": "terracotta roman coin"},
        where(
            lambda thing: (thing.product, thing.material) == ("roman coin", "terracotta"),
            product="roman coin",
            of_files=1,
        ),
    ),
)


def _heavy(low: float, high: float) -> list[dict[str, Any]]:
    return [{"key": "weight_kg", "op": "between", "value": [low, high]}]


def _is(thing: Thing, product: str, *, low: float, high: float) -> bool:
    return thing.product == product and low <= thing.weight <= high


METADATA_RANGES = _filtered(
    "metadata range",
    (
        {"query": "impeller", "metadataFilters": _heavy(1, 3)},
        demanded(lambda thing: _is(thing, "impeller", low=1, high=3)),
    ),
    (
        {"query": "crane hook", "metadataFilters": _heavy(100, 1000)},
        demanded(lambda thing: _is(thing, "crane hook", low=100, high=1000)),
    ),
    (
        {"query": "bronze bust", "metadataFilters": _heavy(0, 1)},
        demanded(lambda thing: _is(thing, "bronze bust", low=0, high=1)),
    ),
    (
        {"query": "engine", "filters": [{"query_string": {"query": "MD_weight_kg:[50 TO 60]"}}]},
        demanded(lambda thing: _is(thing, "engine block", low=50, high=60)),
    ),
    (
        {
            "query": "bell",
            "metadataFilters": [
                {"key": "made", "op": "between", "value": ["2020-01-01", "2020-06-30"]}
            ],
        },
        demanded(
            lambda thing: (
                thing.product == "church bell" and "2020-01-01" <= thing.made <= "2020-06-30"
            )
        ),
    ),
    (
        {
            "query": "fuel tank",
            "metadataFilters": [{"key": "made", "op": "lt", "value": "2016-01-01"}],
        },
        demanded(lambda thing: thing.product == "fuel tank" and thing.made < "2016-01-01"),
    ),
)

EXTENSIONS = _filtered(
    "file extension",
    (
        {"query": "wuson stl"},
        files(lambda _, path: path.lower().endswith(".stl") and "wuson" in path.lower()),
    ),
    (
        {"query": "spider", "filters": [{"query_string": {"query": "str_fileext:cob"}}]},
        files(lambda _, path: path.endswith(".cob") and "spider" in path),
    ),
    (
        {"query": "helical gear step"},
        files(lambda thing, path: thing.product == "helical gear" and path.endswith(".step")),
    ),
    (
        {
            "query": "piston",
            "entityTypes": ["file"],
            "filters": [{"term": {"str_fileext": ".usdz"}}],
        },
        files(lambda thing, path: thing.product == "piston" and path.endswith(".usdz")),
    ),
    ({"query": "*.mtl"}, files(lambda _, path: path.endswith(".mtl"))),
)

ASSETS_AGAINST_FILES = _texts(
    "asset against file",
    {
        "aircraft_seat_as-21055-a.usdz": file_named("aircraft_seat_as-21055-a.usdz"),
        "WF-17063-B_sheet1.pdf": file_named("WF-17063-B_sheet1.pdf"),
        "dwarf.cob": file_named("dwarf.cob"),
        "spider_ascii.stl": file_named("Spider_ascii.stl"),
        "TheThing": called("TheThing"),
    },
)

QUERIES = (
    *EXACT_IDS,
    *EXACT_NAMES,
    *PREFIXES,
    *INNER_PARTS,
    *TYPOS,
    *SEVERAL_WORDS,
    *METADATA_VALUES,
    *METADATA_RANGES,
    *EXTENSIONS,
    *ASSETS_AGAINST_FILES,
)
