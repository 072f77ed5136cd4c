"""Commands for metadata schemas."""

from pathlib import Path
from typing import Annotated

import typer

from vitrine.cli.session import Session, YesOption, command
from vitrine.cli.standard_streams import read_json
from vitrine.schema_models import MetadataSchema, SchemaEntity, SchemaFields

DatabaseArgument = Annotated[
    str, typer.Argument(metavar="DATABASE", help="Database id, or GLOBAL.")
]
SchemaArgument = Annotated[str, typer.Argument(metavar="SCHEMA-ID")]
FieldsHelp = (
    'JSON file: {"fields": [{"metadataFieldKeyName": …, "metadataFieldValueType": …}, …]}; '
    "- reads standard input."
)
ExtensionsOption = Annotated[
    str | None,
    typer.Option("--extensions", help="Only for files with these extensions: .glb,.gltf"),
]


@command("metadata-schemas list")
def list_schemas(
    session: Session,
    database: Annotated[
        str | None, typer.Option(help="Only those of this database, or GLOBAL.")
    ] = None,
    entity: Annotated[
        SchemaEntity | None, typer.Option("--for", help="Only those for this type.")
    ] = None,
) -> None:
    """List the metadata schemas."""
    session.output.items(
        session.client.metadata_schemas.list(database, entity),
        ["id", "database", "for", "name", "enabled", "fields"],
        lambda metadata_schema: [
            metadata_schema.metadata_schema_id,
            metadata_schema.database_id,
            metadata_schema.metadata_schema_entity_type,
            metadata_schema.schema_name,
            "yes" if metadata_schema.enabled else "no",
            len(metadata_schema.fields.fields),
        ],
    )


@command("metadata-schemas show")
def show_schema(session: Session, database: DatabaseArgument, schema: SchemaArgument) -> None:
    """Show the fields of a metadata schema."""
    metadata_schema = session.client.metadata_schemas.get(database, schema)
    session.output.document(metadata_schema.wire())
    session.output.rows(
        ["key", "type", "required", "default", "depends on"], _fields(metadata_schema)
    )


@command("metadata-schemas create")
def create_schema(
    session: Session,
    database: DatabaseArgument,
    entity: Annotated[SchemaEntity, typer.Argument(metavar="FOR")],
    name: Annotated[str, typer.Argument(metavar="NAME")],
    fields: Annotated[Path, typer.Argument(metavar="FIELDS", help=FieldsHelp)],
    extensions: ExtensionsOption = None,
    enabled: Annotated[bool, typer.Option("--enabled/--disabled")] = True,
) -> None:
    """Create a metadata schema from a file with its fields."""
    made = session.client.metadata_schemas.create(
        database,
        entity,
        name=name,
        fields=read_json(fields, SchemaFields),
        file_extensions=extensions,
        enabled=enabled,
    )
    session.output.reply(made, schema=made.metadata_schema_id)


@command("metadata-schemas update")
def update_schema(
    session: Session,
    schema: SchemaArgument,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    fields: Annotated[Path | None, typer.Option(help=FieldsHelp)] = None,
    extensions: ExtensionsOption = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable")] = None,
) -> None:
    """Change the name or the fields of a metadata schema, or enable or disable it."""
    changed = session.client.metadata_schemas.update(
        schema,
        name=name,
        fields=None if fields is None else read_json(fields, SchemaFields),
        file_extensions=extensions,
        enabled=enabled,
    )
    session.output.reply(changed, schema=changed.metadata_schema_id)


@command("metadata-schemas delete")
def delete_schema(
    session: Session,
    database: DatabaseArgument,
    schema: SchemaArgument,
    yes: YesOption = False,
) -> None:
    """Delete a metadata schema; the metadata itself is kept."""
    session.confirm(f"Delete the metadata schema {schema}?", yes=yes)
    gone = session.client.metadata_schemas.delete(database, schema)
    session.output.reply(gone, deleted=gone.metadata_schema_id)


def _fields(schema: MetadataSchema) -> list[list[object]]:
    return [
        [
            field.metadata_field_key_name,
            field.metadata_field_value_type,
            "yes" if field.required else "no",
            field.default_metadata_field_value,
            ", ".join(field.depends_on_field_key_name or ()),
        ]
        for field in schema.fields.fields
    ]
