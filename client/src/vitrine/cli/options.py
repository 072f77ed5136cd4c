"""Arguments and options that commands of several nouns have."""

from typing import Annotated

import typer

DatabaseArgument = Annotated[str, typer.Argument(metavar="DATABASE")]
ProcessingOption = Annotated[
    bool | None,
    typer.Option(
        "--processing/--no-processing", help="Run the built-in workflows on uploaded files."
    ),
]
AssetArgument = Annotated[str, typer.Argument(metavar="ASSET", help="Id or name of an asset.")]
UserArgument = Annotated[str, typer.Argument(metavar="USER")]
ReasonOption = Annotated[str | None, typer.Option(help="Reason, stored in the audit log.")]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until all files are changed.")]
TimeoutOption = Annotated[float, typer.Option(min=0, help="Maximum seconds to wait.")]
TextOption = Annotated[
    str | None, typer.Option("--description", help="Description; 4 to 256 characters.")
]
