"""Runs commands of the AWS CLI, which is not installed, by botocore's models, as the CLI does."""

import shlex
from typing import Any

import botocore.session
import jmespath
from botocore import xform_name

from local import arns


def run(command: str, endpoint: str, region: str = arns.REGION) -> Any:
    """Send the request of a command, and return what `--query` selects of its reply."""
    _, service, operation, *words = shlex.split(command)
    client: Any = botocore.session.get_session().create_client(
        service,
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id="stand-in",
        aws_secret_access_key="stand-in",
    )
    query, values_given = "@", dict[str, Any]()
    members: dict[str, Any] = client.meta.service_model.operation_model(
        client.meta.method_to_api_mapping[operation.replace("-", "_")]
    ).input_shape.members
    names = {xform_name(member, "-"): member for member in members}
    while words:
        option = words.pop(0).removeprefix("--")
        if option in ("query", "output"):
            value = words.pop(0)
            query = value if option == "query" else query
        elif option not in names:
            values_given[names[option.removeprefix("no-")]] = False
        elif members[names[option]].type_name == "boolean":
            values_given[names[option]] = True
        else:
            values_given[names[option]] = words.pop(0)
    return jmespath.search(query, getattr(client, operation.replace("-", "_"))(**values_given))
