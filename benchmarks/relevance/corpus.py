"""The corpus of the judged searches: generated assets, and the names of Debian's test models.

The properties of each asset (`Thing`) are known before any search engine reads it, so judgements
are statements about assets, and not about the results of a query.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from backend.core.objects import ObjectVersion
from backend.domains.buckets.models import AssetBucket
from backend.search.indexing.projections import (
    AssetSource,
    Document,
    FileSource,
    document_id,
    project,
)
from backend.search.values import Record
from tests.factories.search import asset_row

GENERATED = 20_000
SEED = 19
ASSIMP, MODELS = Path(__file__).with_name("assimp_paths.txt"), "assimp"
"""The list of paths, and the database of the assets created from it, one per folder."""

_BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")
_FIRST_DAY = datetime(2015, 1, 1, tzinfo=UTC)
_DAYS = 4000
_MISSPELT = 0.01
"""The share of names with two exchanged letters."""

PRODUCTS: dict[str, tuple[str, ...]] = {
    "drives": (
        *("helical gear", "bevel gear", "worm gear", "planetary gearbox", "gear rack"),
        *("shaft coupling", "crankshaft", "camshaft", "flywheel", "timing belt pulley"),
        *("ball bearing", "roller bearing", "linear guide", "ball screw", "electric motor"),
    ),
    "hydraulics": (
        *("pump housing", "centrifugal pump", "gear pump", "impeller", "ball valve"),
        *("gate valve", "check valve", "hydraulic cylinder", "hydraulic manifold"),
        *("pipe elbow", "pipe flange", "filter housing", "pressure vessel", "heat exchanger"),
    ),
    "structure": (
        *("mounting plate", "motor bracket", "support frame", "control cabinet", "cable tray"),
        *("bridge deck", "spiral staircase", "window frame", "door handle", "handrail"),
        *("excavator bucket", "crane hook", "robot gripper", "welding torch", "conveyor roller"),
    ),
    "vehicles": (
        *("wheel hub", "brake disc", "brake caliper", "suspension arm", "engine block"),
        *("piston", "cylinder head", "exhaust manifold", "landing gear", "aircraft seat"),
        *("ship propeller", "rudder blade", "turbine blade", "fuel tank", "headlight lens"),
    ),
    "interior": (
        *("desk lamp", "street lamp", "office chair", "oak table", "bookshelf"),
        *("ceiling fan", "coat hook", "kitchen sink", "radiator", "lampshade"),
    ),
    "heritage": (
        *("marble statue", "bronze bust", "column capital", "amphora", "fossil skull"),
        *("church bell", "stone lantern", "ceramic vase", "roman coin", "temple façade"),
    ),
}
GROUP_OF = {product: group for group, products in PRODUCTS.items() for product in products}
_MAKERS = (
    *("Nordwerk", "Acme Castings", "Helix Dynamics", "Brückner & Söhne", "Tanaka Seiki"),
    *("Lumière SA", "Vulcan Forge", "Pacific Hydraulics", "Orbital Parts", "Castellani"),
)
_MATERIALS = {
    "drives": ("case hardened steel", "stainless steel 316L", "bronze", "nylon"),
    "hydraulics": ("cast iron", "stainless steel 316L", "aluminium 6061", "brass"),
    "structure": ("galvanized steel", "aluminium 6061", "concrete", "stainless steel 304"),
    "vehicles": ("titanium grade 5", "aluminium 6061", "carbon fibre", "cast iron"),
    "interior": ("oak", "powder coated steel", "glass", "walnut"),
    "heritage": ("carrara marble", "bronze", "limestone", "terracotta"),
}
_PROJECTS = ("Harbour Bridge", "Line 7", "Museum Island", "Falcon", "Plant Rotterdam", "Aurora")
_STATES = ("released", "prototype", "obsolete", "in review")
_SIZES = ("small", "large", "left", "right", "upper", "lower", "front", "rear", "short", "long")
_EXTENSIONS = ("glb", "step", "stl", "obj", "fbx", "e57", "usdz", "ply")


@dataclass(frozen=True)
class Thing:
    """An asset with its properties; `product` is empty for the test models."""

    number: int
    asset_id: str
    name: str
    paths: Sequence[str]
    database: str = "parts"
    product: str = ""
    variant: str = ""
    part_number: str = ""
    maker: str = ""
    material: str = ""
    project: str = ""
    state: str = ""
    weight: float = 0
    made: str = ""
    mentions: str = ""
    """Another product that the description mentions."""
    misspelt: bool = False
    tags: tuple[str, ...] = ()
    area: str = ""
    """A GeoJSON geometry."""

    @property
    def group(self) -> str:
        return GROUP_OF.get(self.product, "")

    @property
    def id(self) -> str:
        """The id of its document."""
        return document_id(self.database, self.asset_id)

    def id_of(self, path: str) -> str:
        """The id of the document of one of its files."""
        return document_id(self.database, self.asset_id, f"{self.asset_id}/{path}")


def things() -> list[Thing]:
    """All assets, the same in each run."""
    return [*generate_things(GENERATED), *_models()]


def documents(thing: Thing) -> Iterator[Document]:
    """The asset's document and those of its files, as the product builds them."""
    row = asset_row(
        thing.asset_id,
        database_id=thing.database,
        assetName=thing.name,
        description=_description(thing),
        tags=list(thing.tags),
        assetType="folder" if len(thing.paths) > 1 else "." + thing.paths[0].rpartition(".")[2],
    )
    area = (Record("area", thing.area, "geojson"),) if thing.area else ()
    yield project(AssetSource(row, _BUCKET, (*_records(thing), *area)))
    modified = _FIRST_DAY + timedelta(days=thing.number % _DAYS)
    for path in thing.paths:
        size = 1000 + 37 * thing.number
        version = ObjectVersion(f"{thing.asset_id}/{path}", "v1", True, modified, size, "etag")
        yield project(FileSource(row, _BUCKET, version, version, metadata=area))


def generate_things(count: int) -> Iterator[Thing]:
    """The first assets of an endless list; part numbers repeat after 90,000."""
    chance = random.Random(SEED)
    products = tuple(GROUP_OF)
    # Some products are common and some rare, as in every collection.
    weights = [1 / (1 + place % 12) for place in range(len(products))]
    for number in range(count):
        yield _build_thing(number, chance, chance.choices(products, weights)[0], products)


def _build_thing(
    number: int, chance: random.Random, product: str, products: Sequence[str]
) -> Thing:
    letters = "".join(word[0] for word in product.split()).upper().ljust(2, "X")
    part_number = f"{letters}-{1000 + number * 7919 % 90_000}-{chance.choice('ABCD')}"
    variant = f"{chance.choice(_SIZES)} {chance.randrange(10, 400, 5)}"
    misspelt = chance.random() < _MISSPELT
    name = _name(chance, _misspelt(chance, product) if misspelt else product, variant, part_number)
    group = GROUP_OF[product]
    tags = {group, chance.choice(_STATES), chance.choice(("scanned", "modelled", "spare part"))}
    stem = product.replace(" ", "_")
    first = f"{stem}_{part_number.lower()}.{chance.choice(_EXTENSIONS)}"
    more = (f"drawings/{part_number}_sheet1.pdf",) if chance.random() < 0.25 else ()
    state = next(iter(tags & set(_STATES)))
    return Thing(
        number=number,
        asset_id=str(UUID(int=chance.getrandbits(128), version=4)),
        name=name,
        paths=(first, *more),
        product=product,
        variant=variant,
        part_number=part_number,
        maker=chance.choice(_MAKERS),
        material=chance.choice(_MATERIALS[group]),
        project=chance.choice(_PROJECTS),
        state=state,
        weight=round(chance.lognormvariate(2, 1.5), 1),
        made=(_FIRST_DAY + timedelta(days=chance.randrange(_DAYS))).date().isoformat(),
        mentions=chance.choice(products) if chance.random() < 0.4 else "",
        misspelt=misspelt,
        tags=tuple(sorted(tags)),
    )


def _name(chance: random.Random, product: str, variant: str, part_number: str) -> str:
    """A name in one of the ways in which people write names."""
    style = chance.randrange(5)
    if style == 0:
        return f"{product} {variant}".capitalize()
    if style == 1:
        return f"{product}_{variant}_v{chance.randrange(1, 6)}".replace(" ", "_")
    if style == 2:
        return "".join(word.capitalize() for word in f"{product} {variant}".split())
    if style == 3:
        return f"{part_number} {product.title()}"
    return f"{product.title()}, {variant}"


def _misspelt(chance: random.Random, product: str) -> str:
    """The product with two letters inside a word exchanged."""
    word = max(product.split(), key=len)
    place = chance.choice([n for n in range(1, len(word) - 1) if word[n] != word[n + 1]])
    wrong = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return product.replace(word, wrong, 1)


def _description(thing: Thing) -> str:
    if not thing.product:
        return "A test model"
    beside = f" Fits the {thing.mentions} of the same series." if thing.mentions else ""
    return f"{thing.product.capitalize()} for the project {thing.project}.{beside}"


def _records(thing: Thing) -> tuple[Record, ...]:
    if not thing.product:
        return ()
    return (
        Record("part_number", thing.part_number),
        Record("manufacturer", thing.maker),
        Record("material", thing.material),
        Record("project", thing.project),
        Record("weight_kg", str(thing.weight), "number"),
        Record("made", thing.made, "date"),
    )


def _models() -> Iterator[Thing]:
    """An asset for each folder of the test models."""
    lines = ASSIMP.read_text(encoding="utf-8").splitlines()
    folders: dict[str, list[str]] = {}
    for line in lines:
        if not line.startswith("#"):
            folder, _, name = line.rpartition("/")
            folders.setdefault(folder, []).append(name)
    for place, (folder, names) in enumerate(folders.items()):
        asset_id = folder.replace("/", "-").replace(" ", "-")
        yield Thing(
            number=GENERATED + place,
            asset_id=asset_id,
            name=folder.rpartition("/")[2],
            paths=tuple(names),
            database=MODELS,
            tags=("test model",),
        )
