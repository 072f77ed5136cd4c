"""Pictures as a camera takes them: landscapes and a still life, computed, with EXIF."""

import math
from typing import NamedTuple

import numpy as np
from PIL import Image

from samples.pictures import Floats, fractal, jpeg, mixed, noise, random, randoms

_WIDTH, _HEIGHT = 720, 480
_STARS = 1500


class Shot(NamedTuple):
    """What a camera notes with a picture."""

    taken: str
    seconds: tuple[int, int]
    aperture: float
    iso: int
    millimetres: int
    latitude: float
    longitude: float
    title: str
    orientation: int = 1


def _exif(shot: Shot) -> bytes:
    exif = Image.Exif()
    exif[0x010E], exif[0x010F], exif[0x0110] = shot.title, "Vitrine", "Sample Camera 1"
    exif[0x0112], exif[0x0131], exif[0x0132] = shot.orientation, "samples/photos.py", shot.taken
    details = exif.get_ifd(0x8769)
    details[0x829A] = shot.seconds[0] / shot.seconds[1]
    details[0x829D], details[0x8827], details[0x920A] = (
        shot.aperture,
        shot.iso,
        float(shot.millimetres),
    )
    details[0x9003] = details[0x9004] = shot.taken
    place = exif.get_ifd(0x8825)
    place[1], place[2] = "N", _degrees(shot.latitude)
    place[3], place[4] = "E", _degrees(shot.longitude)
    return exif.tobytes()


def _degrees(value: float) -> tuple[float, float, float]:
    whole, rest = divmod(value * 60, 60)
    return float(int(whole)), float(int(rest)), round((rest - int(rest)) * 60, 2)


def _grid(width: int, height: int) -> tuple[Floats, Floats]:
    """Return x and y of the pixels, both in units of the height, y downwards."""
    return np.meshgrid((np.arange(width) + 0.5) / height, (np.arange(height) + 0.5) / height)


def _ridge(x: Floats, seed: float, scale: float) -> Floats:
    return fractal(x * scale + seed, np.full_like(x, seed * 1.7), 6)


def lake() -> bytes:
    """Mountains behind mountains at sunrise, and their reflection in a lake."""
    x, y = _grid(_WIDTH, _HEIGHT)
    shore = 0.66
    above = _mountains(x[: int(shore * _HEIGHT)], y[: int(shore * _HEIGHT)])
    ripples = (noise(x * 14, y * 190) - 0.5) * 0.075 * np.clip((y - shore) / (1 - shore), 0, 1)
    rows = np.where(y > shore, 2 * shore - y, y) + ripples * 0.7
    rows = np.clip((rows * _HEIGHT).astype(int), 0, len(above) - 1)
    columns = np.clip(((x + ripples) * _HEIGHT).astype(int), 0, _WIDTH - 1)
    view = above[rows, columns]
    water = view * (0.83, 0.87, 0.92) * np.clip(1.0 - 0.55 * (y - shore), 0.5, 1)[..., None]
    sparkle = np.clip(noise(x * 30, y * 260) - 0.80, 0, 1) * 3 * np.exp(-(((x - 1.0) / 0.16) ** 2))
    picture = np.where((y > shore)[..., None], water + (sparkle[..., None] * (1.0, 0.8, 0.5)), view)
    mist = np.exp(-(((y - shore) / 0.018) ** 2)) * (0.35 + 0.5 * fractal(x * 3, y * 9, 3))
    picture = mixed_by(picture, (1.0, 0.86, 0.72), mist * 0.8)
    reeds = np.zeros_like(x)
    for number in range(90):
        at = 0.02 + 0.42 * random(700 + number) ** 1.4
        tall, lean = 0.10 + 0.17 * random(800 + number), 0.25 * (random(900 + number) - 0.35)
        part = (
            slice(int((1 - tall) * _HEIGHT), None),
            slice(max(0, int((at - 0.06) * _HEIGHT)), int((at + 0.06) * _HEIGHT)),
        )
        up = np.clip((1.0 - y[part]) / tall, 0, 1)
        inside = 0.0022 * (1 - up) - np.abs(x[part] - at - lean * tall * up * up)
        reeds[part] = np.maximum(reeds[part], np.clip(inside * _HEIGHT + 0.5, 0, 1) * (up < 1))
    picture = mixed_by(picture, (0.10, 0.09, 0.11), reeds)
    shot = Shot("2024:05:17 05:42:10", (1, 60), 8.0, 100, 35, 47.4979, 12.1131, "Lake at sunrise")
    return jpeg(picture, quality=86, exif=_exif(shot))


def _mountains(x: Floats, y: Floats) -> Floats:
    sky = mixed((0.30, 0.42, 0.66), (0.98, 0.72, 0.52), np.clip(y / 0.5, 0, 1) ** 1.2)
    sun = np.hypot(x - 1.0, y - 0.40)
    sky = sky + np.exp(-((sun / 0.28) ** 2))[..., None] * np.array([0.30, 0.20, 0.06])
    sky = mixed_by(sky, (1.0, 0.96, 0.82), np.clip((0.047 - sun) * _HEIGHT / 2 + 0.5, 0, 1))
    clouds = np.clip((fractal(x * 2.2 + 9, y * 9 + 4, 5) - 0.52) * 5, 0, 1) * np.clip(
        1 - y / 0.42, 0, 1
    )
    picture = mixed_by(sky, (1.0, 0.80, 0.70), clouds * 0.75)
    layers, row = 6, x[0]
    for layer in range(layers):
        t = layer / (layers - 1)
        top = (
            0.36
            + 0.20 * t
            - (0.24 - 0.10 * t) * (_ridge(row, 3.0 + 7 * layer, 1.3 + 1.1 * t) - 0.38) * 1.6
        )
        if layer == layers - 1:  # the last has firs
            top = (
                top
                + 0.045
                - 0.034
                * np.abs(2 * ((row * 31 + noise(row * 9, row * 0)) % 1.0) - 1)
                * (0.3 + noise(row * 60, row * 0 + 3))
            )
        near = np.array([0.10, 0.17, 0.24]) * t + np.array([0.70, 0.60, 0.66]) * (1 - t)
        depth = np.clip((y - top) / 0.22, 0, 1)
        body = mixed(near, near * 0.6 + np.array([0.95, 0.72, 0.60]) * 0.4, depth * (1 - t * 0.75))
        cover = np.clip((y - top) * _HEIGHT + 0.5, 0, 1)[..., None]
        picture = picture * (1 - cover) + body * cover
    return picture


def mixed_by(picture: Floats, color: tuple[float, float, float], part: Floats) -> Floats:
    """Return the picture with a part of a colour in each pixel."""
    return picture * (1 - part[..., None]) + np.asarray(color) * part[..., None]


def night() -> bytes:
    """Pines below the stars; taken upright, so the pixels are stored sideways."""
    width, height = _HEIGHT, _WIDTH
    x, y = _grid(width, height)
    band = np.exp(-((((x - 0.28) * 0.9 + (y - 0.42) * 0.55) / 0.13) ** 2))
    dust = fractal(x * 5, y * 5, 6)
    sky = mixed((0.015, 0.03, 0.09), (0.10, 0.20, 0.30), np.clip(y - 0.1, 0, 1) ** 1.5)
    glow = np.clip((y - 0.55) / 0.4, 0, 1) ** 2
    sky = sky + glow[..., None] * np.array([0.22, 0.30, 0.26])
    milky = band * np.clip(1.7 * dust - 0.35, 0, 1)
    sky = (
        sky
        + milky[..., None] * np.array([0.42, 0.38, 0.46])
        + (band * np.clip(dust - 0.55, 0, 1))[..., None] * np.array([0.5, 0.3, 0.3])
    )
    _stars(sky, band)
    picture = sky
    for number, (at, tall, wide) in enumerate(
        (
            (0.10, 0.52, 0.2),
            (0.60, 0.40, 0.17),
            (0.27, 0.30, 0.14),
            (0.47, 0.22, 0.12),
            (0.0, 0.36, 0.16),
            (0.68, 0.5, 0.2),
        )
    ):
        up = np.clip((1.0 - y) / tall, 0, 1)
        tiers = (up * 11 + number * 0.3) % 1.0
        ragged = 0.25 * (noise(x * 160, y * 160 + number) - 0.5)
        reach = wide / 2 * (1 - up) * (1.05 - 0.55 * tiers + ragged)
        cover = np.clip((reach + 0.003 - np.abs(x - at)) * height + 0.5, 0, 1) * (up < 1)
        picture = mixed_by(picture, (0.012, 0.022, 0.035), cover)
    ground = np.clip((y - 0.955 + 0.03 * noise(x * 6, x * 0)) * height, 0, 1)
    picture = mixed_by(picture, (0.012, 0.022, 0.035), ground)
    shot = Shot(
        "2024:08:11 23:58:44", (20, 1), 2.8, 3200, 20, 47.5312, 12.0877, "Stars over pines", 6
    )
    # Orientation 6: the camera was turned, so the first row is the right side of the scene.
    return jpeg(np.rot90(np.clip(picture, 0, 1)), quality=86, exif=_exif(shot))


def _stars(sky: Floats, band: Floats) -> None:
    """Add stars, of which more are in the band."""
    height, width = band.shape
    chances = randoms(4 * _STARS).reshape(4, _STARS)
    columns, rows = (
        (chances[0] * (width - 2)).astype(int) + 1,
        (chances[1] * (height - 2)).astype(int) + 1,
    )
    seen = chances[3] < 0.35 + 0.65 * band[rows, columns]
    bright = np.where(seen, chances[2] ** 9 * 1.6 + 0.14, 0)[:, None] * (0.9, 0.95, 1.0)
    np.add.at(sky, (rows, columns), bright)
    for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        np.add.at(sky, (rows + dy, columns + dx), np.where(bright > 0.6, 0.45 * bright, 0))


def still_life() -> bytes:
    """Glossy balls on a table in front of a window, by tracing rays."""
    x, y = _grid(_WIDTH, _HEIGHT)
    color, what = _seen(x, y)
    # Edges, and where the picture changes quickly, are averages of more rays.
    rough = np.zeros(x.shape, bool)
    for axis in (0, 1):
        change = (np.abs(np.diff(color, axis=axis)).max(-1) > 0.2) | (np.diff(what, axis=axis) != 0)
        change = change if axis == 0 else change.T
        marked = rough if axis == 0 else rough.T
        marked[:-1] |= change
        marked[1:] |= change
    offsets = [(dx / 4 / _HEIGHT, dy / 4 / _HEIGHT) for dx in (-1, 1) for dy in (-1, 1)]
    rays = [_seen(x[rough] + dx, y[rough] + dy)[0] for dx, dy in offsets]
    color[rough] = sum(np.clip(ray, 0, 1) for ray in rays) / len(rays)
    shown = np.clip(color, 0, 1) ** (1 / 2.2)
    shot = Shot("2024:03:02 10:15:31", (1, 125), 4.0, 200, 50, 48.1374, 11.5755, "Balls on a table")
    return jpeg(shown, quality=88, exif=_exif(shot))


def _seen(x: Floats, y: Floats) -> tuple[Floats, np.ndarray]:
    """Return the colours of rays through the picture, and what they meet."""
    ways = np.stack([(x - 0.75) * 0.86, 0.38 - y * 0.86, np.full_like(x, -1.0)], -1).reshape(-1, 3)
    ways = ways / np.sqrt((ways * ways).sum(-1, keepdims=True))
    sine, cosine = math.sin(math.radians(-13)), math.cos(math.radians(-13))
    up, back = ways[:, 1] * cosine - ways[:, 2] * sine, ways[:, 1] * sine + ways[:, 2] * cosine
    ways = np.stack([ways[:, 0], up, back], -1)
    starts = np.broadcast_to(np.array([0.0, 1.45, 4.6]), ways.shape)
    color = _traced(starts, ways, depth=2)
    return color.reshape(*x.shape, 3), _hit(starts, ways)[1].reshape(x.shape)


_BALLS = (
    ((-1.15, 0.62, -0.1), 0.62, (0.72, 0.07, 0.06), 0.16),
    ((0.25, 0.85, -0.75), 0.85, (0.75, 0.77, 0.80), 0.72),
    ((1.45, 0.48, 0.1), 0.48, (0.02, 0.22, 0.42), 0.16),
    ((0.35, 0.30, 0.75), 0.30, (0.85, 0.50, 0.05), 0.12),
    ((-0.35, 0.20, 1.05), 0.20, (0.80, 0.55, 0.22), 0.65),
    ((1.0, 0.17, 1.15), 0.17, (0.06, 0.36, 0.18), 0.12),
)
_LIGHT = np.array([-0.55, 0.75, 0.40]) / math.sqrt(0.55**2 + 0.75**2 + 0.40**2)


def _hit(starts: Floats, ways: Floats) -> tuple[Floats, np.ndarray]:
    """Return how far the nearest thing is, and its number; -1 is the table, -2 nothing."""
    with np.errstate(all="ignore"):
        far = np.where(ways[:, 1] < -1e-6, -starts[:, 1] / ways[:, 1], np.inf)
    far = np.where(far > 1e-4, far, np.inf)
    what = np.where(np.isfinite(far), -1, -2)
    for number, (centre, radius, _, _) in enumerate(_BALLS):
        away = starts - np.array(centre)
        half = (away * ways).sum(1)
        inside = half * half - (away * away).sum(1) + radius * radius
        near = -half - np.sqrt(np.maximum(inside, 0))
        nearer = (inside > 0) & (near > 1e-4) & (near < far)
        far, what = np.where(nearer, near, far), np.where(nearer, number, what)
    return far, what


def _traced(starts: Floats, ways: Floats, *, depth: int) -> Floats:
    far, what = _hit(starts, ways)
    color = _room(ways)
    for number in range(-1, len(_BALLS)):
        mine = np.flatnonzero(what == number)
        if len(mine):
            color[mine] = _surface(
                starts[mine] + ways[mine] * far[mine][:, None], ways[mine], number, depth
            )
    return color


def _room(ways: Floats) -> Floats:
    """Return what rays see that meet nothing: a wall, and a bright window."""
    wall = mixed((0.36, 0.33, 0.30), (0.62, 0.66, 0.72), ways[:, 1] * 1.4 + 0.25)
    u, v = (ways * (0.59, 0.0, 0.81)).sum(1), ways[:, 1]
    side = ways[:, 0] * 0.81 - ways[:, 2] * -0.59
    pane = (np.abs(side + 0.15) < 0.62) & (np.abs(v - 0.55) < 0.36) & (u > 0)
    bars = (np.abs(side + 0.15) < 0.03) | (np.abs(v - 0.55) < 0.025)
    return np.where((pane & ~bars)[:, None], np.array([2.4, 2.3, 2.1]), wall)


def _surface(places: Floats, ways: Floats, number: int, depth: int) -> Floats:
    if number < 0:
        normals = np.broadcast_to(np.array([0.0, 1, 0]), places.shape)
        grain = fractal(places[:, 0] * 1.3 + 7, places[:, 2] * 14, 4)
        board = np.floor(places[:, 2] * 1.6)
        tone = grain * 0.8 + 0.25 * np.abs(np.sin(board * 12.9898))
        gap = np.clip(np.abs(places[:, 2] * 1.6 % 1 - 0.5) * -40 + 19.6, 0, 1)
        own = (
            mixed((0.17, 0.085, 0.038), (0.50, 0.30, 0.15), tone)
            * (0.25 + 0.75 * (1 - np.clip(1 - gap, 0, 1)))[:, None]
        )
        shine = 0.07
    else:
        centre, radius, paint, shine = _BALLS[number]
        normals = (places - np.array(centre)) / radius
        own = np.broadcast_to(np.array(paint), places.shape)
    lit = np.clip((normals * _LIGHT).sum(1), 0, 1) * _open(places + normals * 1e-3)
    hidden = _nearness(places, normals, number)
    color = own * (0.36 * hidden + 1.05 * lit)[:, None] * (1 - shine)
    facing = np.clip(-(ways * normals).sum(1), 0, 1)
    part = shine + (1 - shine) * (1 - facing) ** 5 * 0.6
    if depth:
        mirrored = ways - 2 * (ways * normals).sum(1)[:, None] * normals
        color = color + _traced(places + normals * 1e-3, mirrored, depth=depth - 1) * part[:, None]
    return color


def _open(places: Floats) -> Floats:
    """Return how much of the light, which is not a point, reaches each place."""
    total = np.ones(len(places))
    for centre, radius, _, _ in _BALLS:
        away = np.array(centre) - places
        along = (away * _LIGHT).sum(1)
        aside = np.sqrt(np.maximum((away * away).sum(1) - along * along, 0))
        soft = 0.16 * np.maximum(along, 0.05)
        total = np.where(along > 0, total * np.clip((aside - radius) / soft + 0.5, 0, 1), total)
    return total


def _nearness(places: Floats, normals: Floats, number: int) -> Floats:
    """Return how much of the room is not hidden by balls and table."""
    total = np.clip(0.55 + 0.45 * normals[:, 1], 0, 1) if number >= 0 else np.ones(len(places))
    for other, (centre, radius, _, _) in enumerate(_BALLS):
        if other != number:
            away = np.array(centre) - places
            square = (away * away).sum(1)
            facing = np.clip((away * normals).sum(1) / np.sqrt(square), 0, 1)
            total = total * (1 - np.clip(facing * radius * radius / square, 0, 0.95))
    return total
