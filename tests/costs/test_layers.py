"""The dependency layers of functions, as they are deployed, are as small as they were designed.

The wheels are those of Lambda's platform, of which pip or uv fetch some 100 MB once.
"""

from collections.abc import Mapping

import pytest

from infra import assets

MEGABYTE = 1000**2
MOST_MEGABYTES = {"common": 40, "inspect": 130, "inspect-cad": 210}
"""Unzipped and not compiled. Functions with `inspect-cad` have the common layer and the code too,
and Lambda takes 250 MiB."""


@pytest.fixture(scope="module")
def megabytes() -> Mapping[str, float]:
    layers = {
        "common": assets.build_layer(),
        "inspect": assets.build_layer(requirements=assets.requirements_of("inspect")),
        "inspect-cad": assets.build_layer(requirements=assets.requirements_of("inspect-cad")),
    }
    return {name: assets.size_of(folder) / MEGABYTE for name, folder in layers.items()}


@pytest.mark.parametrize("name", MOST_MEGABYTES)
def test_a_layer_has_its_size(name: str, megabytes: Mapping[str, float]) -> None:
    assert megabytes[name] <= MOST_MEGABYTES[name], megabytes
    # A layer in which a library is missing would be small, too.
    assert megabytes[name] >= 0.6 * MOST_MEGABYTES[name], megabytes


def test_each_function_has_what_lambda_takes(megabytes: Mapping[str, float]) -> None:
    for name in ("inspect", "inspect-cad"):
        assert (megabytes["common"] + megabytes[name]) * MEGABYTE <= 0.95 * assets.MOST_BYTES
