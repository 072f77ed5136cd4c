"""Pictures of elements that cover each other many times are drawn in bounded time."""

import numpy as np
import pytest

from backend.processing.render.raster import Raster
from backend.processing.scene import Floats, Indices

SIZE = 16
WHOLE: Floats = np.array([[-50.0, -50, 0.9], [100, -50, 0.9], [-50, 100, 0.9]])
SLIVER: Floats = np.array([[8.0, 0, 0.9], [8, 16, 0.9], [8, 8, 0.9]])
NEAR: Floats = np.array([[0.0, 8, 0.1], [16, 8, 0.1], [8, 16, 0.1]])
LAST = 1_000_000


def copies(triangle: Floats, count: int) -> tuple[Floats, Indices]:
    return triangle, np.zeros((count, 3), np.int64) + np.arange(3)


@pytest.mark.parametrize("triangle", [WHOLE, SLIVER], ids=["of pixels", "of rows"])
def test_after_too_many_elements_the_others_are_omitted(triangle: Floats) -> None:
    raster = Raster(SIZE)
    raster.triangles(*copies(triangle, 200_000), 0)
    raster.triangles(*copies(NEAR, 1), LAST)
    raster.lines(NEAR[None, :2], LAST, 3)
    assert LAST not in raster.elements[raster.hit]


def test_layers_are_drawn_up_to_a_limit_for_which_lines_count_as_triangles_do() -> None:
    raster = Raster(SIZE)
    raster.lines(np.repeat(NEAR[None, :2], 200_000, 0), 1, 3)
    raster.triangles(*copies(NEAR, 1), LAST)
    assert set(raster.elements[raster.hit].tolist()) == {1}
    raster = Raster(SIZE)
    raster.triangles(*copies(WHOLE, 50), 0)
    raster.triangles(*copies(NEAR, 1), LAST)
    raster.lines(NEAR[None, :2] - [0, 4, 0], LAST + 1, 1)
    assert {0, LAST, LAST + 1} <= set(raster.elements[raster.hit].tolist())
