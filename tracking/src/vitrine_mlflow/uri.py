"""The address of a store: dynamodb://TABLE?region=…&endpoint=…"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from vitrine_mlflow.errors import invalid

if TYPE_CHECKING:
    from vitrine_mlflow.database import Database

SCHEME = "dynamodb"
_PARAMETERS = {"region", "endpoint"}
# Times the number of the attempt: another writer of the item is done by then.
_BACKOFF_SECONDS = 0.05


@dataclass(frozen=True)
class StoreAddress:
    """The location of the table."""

    table: str
    region: str | None = None
    endpoint: str | None = None

    @classmethod
    def parse(cls, uri: str) -> "StoreAddress":
        """Parse an address.

        Raises:
            MlflowException: it has another form.
        """
        parts = urlsplit(uri)
        parameters = parse_qs(parts.query)
        unknown = set(parameters) - _PARAMETERS
        if parts.scheme != SCHEME or not parts.netloc or parts.path.strip("/") or unknown:
            raise invalid(
                f"Invalid store URI '{uri}'. Expected dynamodb://TABLE?region=REGION&endpoint=URL, "
                "where both parameters are optional."
            )
        return cls(
            parts.netloc,
            parameters.get("region", [None])[0],
            parameters.get("endpoint", [None])[0],
        )

    @property
    def uri(self) -> str:
        """The address as text."""
        options = {"region": self.region, "endpoint": self.endpoint}
        query = urlencode({name: value for name, value in options.items() if value}, safe=":/")
        return f"{SCHEME}://{self.table}{'?' if query else ''}{query}"

    def client(self) -> Any:
        """A client of DynamoDB. Throttled requests are repeated after a random time."""
        import boto3  # noqa: PLC0415 - importing the module must not take the time of importing boto3
        from botocore.config import Config  # noqa: PLC0415

        config: Any = Config(
            retries={"mode": "standard", "total_max_attempts": 8}, max_pool_connections=32
        )
        return boto3.client(
            "dynamodb", region_name=self.region, endpoint_url=self.endpoint, config=config
        )

    def connect(self) -> "Database":
        """The table."""
        from vitrine_mlflow.database import Database  # noqa: PLC0415

        client = self.client()
        region: str = client.meta.region_name
        return Database(
            client, self.table, region, lambda number: time.sleep(_BACKOFF_SECONDS * number)
        )
