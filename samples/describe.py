"""Describes the imported samples: descriptions, tags, metadata, main files and links.

`python samples/describe.py --endpoint .local/endpoint.json` reads `about.csv`; a second run changes
nothing. It uses the Python client as any other program can.
"""

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from vitrine import ConflictError, Metadata, MetadataType, Vitrine
from vitrine.config import read_endpoint
from vitrine.errors import UnavailableError, VitrineError
from vitrine.resources.links import LinkType
from vitrine.resources.metadata import MetadataOwner
from vitrine.schema_models import SchemaEntity, SchemaField, SchemaFields
from vitrine.transfer.names import asset_id

ABOUT = Path(__file__).with_name("about.csv")
TAG_TYPE = "kind"
FIELDS = {
    "material": MetadataType.STRING,
    "maker": MetadataType.STRING,
    "mass_kg": MetadataType.NUMBER,
    "designed": MetadataType.DATE,
}
"""Columns that become metadata, and their types."""

Row = Mapping[str, str]


def rows(path: Path = ABOUT) -> list[Row]:
    """Return what the table says of each asset."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def describe(client: Vitrine, database_id: str, about: Sequence[Row]) -> int:
    """Describe the assets of a database, and return how many.

    Raises:
        VitrineError: the server refuses a request.
    """
    _create_tags(client, about)
    _create_schema(client, database_id)
    for row in about:
        mine = asset_id(database_id, row["asset"])
        client.assets.update(
            database_id, mine, description=row["description"], tags=row["tags"].split()
        )
        records = [
            Metadata(metadata_key=key, metadata_value=row[key], metadata_value_type=kind)
            for key, kind in FIELDS.items()
            if row[key]
        ]
        client.metadata.set(MetadataOwner(database_id=database_id, asset_id=mine), records)
        if row["primary"]:
            client.files.set_primary((database_id, mine), row["primary"], "primary")
    for row in about:
        _link(client, database_id, row, "parts", "parentChild")
        _link(client, database_id, row, "related", "related")
    return len(about)


def _create_tags(client: Vitrine, about: Sequence[Row]) -> None:
    if all(tag_type.tag_type_name != TAG_TYPE for tag_type in client.tag_types.list()):
        client.tag_types.create(TAG_TYPE, description="What an asset is for")
    existing = {tag.tag_name for tag in client.tags.list()}
    for tag in sorted({tag for row in about for tag in row["tags"].split()} - existing):
        client.tags.create(tag, description=f"Assets for {tag}", tag_type_name=TAG_TYPE)


def _create_schema(client: Vitrine, database_id: str) -> None:
    name = "samples"
    existing = client.metadata_schemas.list(database_id, SchemaEntity.ASSET)
    if any(schema.schema_name == name for schema in existing):
        return
    fields = [
        SchemaField(metadata_field_key_name=key, metadata_field_value_type=kind, sequence=number)
        for number, (key, kind) in enumerate(FIELDS.items())
    ]
    client.metadata_schemas.create(
        database_id, SchemaEntity.ASSET, name=name, fields=SchemaFields.of(*fields)
    )


def _link(client: Vitrine, database_id: str, row: Row, column: str, kind: LinkType) -> None:
    for other in row[column].split():
        ends = [(database_id, asset_id(database_id, name)) for name in (row["asset"], other)]
        try:
            client.links.create(ends[0], ends[1], kind)
        except ConflictError:
            continue  # the link exists since an earlier run


def main() -> None:
    """Describe the samples of the runtime whose endpoint file is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoint", type=Path, required=True)
    parser.add_argument("--database", default="library")
    arguments = parser.parse_args()
    connection = read_endpoint(arguments.endpoint)
    with Vitrine(connection.api, connection.key or "") as client:
        try:
            try:
                describe(client, arguments.database, rows())
            except UnavailableError:  # each step may be repeated
                describe(client, arguments.database, rows())
        except VitrineError as error:
            raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
