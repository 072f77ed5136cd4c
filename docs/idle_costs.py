"""Costs of a stage without use: declared units, and prices from a dated file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from backend.spec.functions import FUNCTIONS
from backend.spec.secrets import SECRETS
from docs.tables import rows
from infra.settings import Settings, default_context, read_settings
from infra.settings.network import endpoint_services, zones_of

PRICES = Path(__file__).with_name("prices.json")
HOURS = 730
"""Hours of a month, as AWS's price pages calculate."""
POLLS = 5 * 3 * 60 * HOURS
"""Requests a month with which Lambda polls an empty queue: five pollers, each of whose requests
waits for 20 seconds. Source: Lambda Developer Guide, "Using Lambda with Amazon SQS"."""
ALARMS = 246
MEMORY_METRICS = 17
"""Alarms of a stage with search and without `events`, and the metrics of memory that exist with
them; `tests/infra/test_alarms.py` counts them."""
_FIREWALL_RULES = 3
LOCAL = "local"

_TEXT = """\
Storage, requests and the running time of functions are charged by use. The following is charged
without any use. Three search nodes elect a master among themselves and survive the loss of one node
or zone. A single node costs a third, and after its loss searches fail until the service has
replaced it. The free tier is not subtracted."""
_MORE = """\
Some settings add to this: `alarmTopicArn` adds {alarms} alarms ({alarm} each) and
{memory_metrics} metrics ({metric} each), {watching} a month; four alarms are queries, which are
charged by the metrics that they read. `detailedRouteMetrics` adds six metrics for each used route.
`userPoolFirewall` adds {firewall} a month, and {inspected} for a million requests. The first two
yearly rotations of the key add {rotation} a month each. A user pool with `userPoolDomain` is of
Cognito's plan Essentials, charged by active user. `page` costs nothing without use: CloudFront
charges {requests} for a million requests, {function} for the function that each of them runs, and
{gigabyte} for a gigabyte of replies in Europe and the United States. AWS also charges for
`cloudTrail` and `malwareScan`. `events` adds a polled queue with its alarms, and {events} for a
million events on a bus.

`searchInVpc` adds {count} interface endpoints in each zone of the search domain ({services};
{endpoint} each a month), so {one} a month with one node and {three} with three or more, which are
in three zones. AWS charges the data that passes through them too. The endpoints of DynamoDB and S3
are gateways, which are free. With `searchVpcId` no endpoint is created. `readersInVpc` adds a
network whose only endpoint is a gateway, and which costs nothing without use.

Prices are in USD without tax, for {region}, as of {date}:"""


class Charge(NamedTuple):
    """Units of a month and their price."""

    what: str
    units: float
    price: str


def idle_costs() -> Iterator[str]:
    """The lines of the section."""
    file = json.loads(PRICES.read_text(encoding="utf-8"))
    prices = cast("Mapping[str, tuple[float, str]]", file["usd"])
    yield from (*_TEXT.splitlines(), "")
    yield from rows(("stage", "charged", "units a month", "USD a month"), _stages(prices))
    services = endpoint_services(FUNCTIONS)
    endpoint = HOURS * prices["interface endpoint in one zone, an hour"][0]
    watching = _price(prices, "alarm", ALARMS)
    watching += _price(prices, "metric of CloudWatch", MEMORY_METRICS)
    firewall = _price(prices, "web ACL of WAF") + _price(prices, "rule of WAF", _FIREWALL_RULES)
    more = _MORE.format(
        alarms=ALARMS,
        alarm=f"{prices['alarm, a month'][0]:.2f}",
        memory_metrics=MEMORY_METRICS,
        watching=f"{watching:.2f}",
        firewall=f"{firewall:.2f}",
        inspected=f"{prices['million requests to WAF'][0]:.2f}",
        requests=f"{prices['million HTTPS requests to CloudFront'][0]:.2f}",
        events=f"{prices['million events on a bus of EventBridge'][0]:.2f}",
        function=f"{prices['million runs of a CloudFront function'][0]:.2f}",
        gigabyte=f"{prices['gigabyte from CloudFront to viewers'][0]:.3f}",
        rotation=f"{_price(prices, 'KMS key'):.2f}",
        count=len(services),
        services=", ".join(services),
        endpoint=f"{endpoint:.2f}",
        one=f"{len(services) * zones_of(1) * endpoint:.2f}",
        three=f"{len(services) * zones_of(3) * endpoint:.2f}",
        metric=f"{prices['metric of CloudWatch, a month'][0]:.2f}",
        region=file["region"],
        date=file["date"],
    )
    yield from ("", *more.splitlines(), "")
    yield from rows(
        ("unit", "USD", "source"),
        ((unit, f"{usd:g}", source) for unit, (usd, source) in prices.items()),
    )


def _price(prices: Mapping[str, tuple[float, str]], unit: str, units: int = 1) -> float:
    return units * prices[f"{unit}, a month"][0]


def _stages(prices: Mapping[str, tuple[float, str]]) -> Iterator[tuple[str, ...]]:
    context = default_context()
    for stage in cast("Mapping[str, object]", context["stages"]):
        if stage == LOCAL:
            continue
        charges = list(idle_charges(read_settings({**context, "stage": stage}.get)))
        amounts = [charge.units * prices[charge.price][0] for charge in charges]
        for charge, amount in zip(charges, amounts, strict=True):
            yield stage, charge.what, f"{charge.units:g}", f"{amount:.2f}"
        yield stage, "total", "", f"{sum(amounts):.0f}"


def idle_charges(settings: Settings) -> Iterator[Charge]:
    """Return what a stage is charged for without use."""
    has_search = settings.search == "provisioned"
    if has_search:
        nodes, kind = settings.search_instance_count, settings.search_instance_type
        yield Charge("hours of search nodes", nodes * HOURS, f"{kind}, an hour")
        size = nodes * settings.search_volume_gb
        yield Charge(
            "gigabytes of their volumes", size, "gigabyte of a search volume (gp3), a month"
        )
    declared = {spec.name for spec in FUNCTIONS if has_search or spec.search == "none"}
    queues = sum(s.consumer in declared for s in settings.queue_subscriptions)
    yield Charge(
        f"million polls of {queues} queues", queues * POLLS / 1e6, "million requests to SQS"
    )
    if settings.customer_managed_key:
        yield Charge("key", 1, "KMS key, a month")
    yield Charge("secrets", len(SECRETS), "secret, a month")
