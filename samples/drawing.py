"""The drawing of the flange as PDF: two views with dimensions, and a title block."""

import math
from collections.abc import Sequence

from samples.step import Flange

_WIDE, _HIGH = 842.0, 595.0  # A4 across, in points
_SCALE = 2.35
_CURVE = 0.5523
"""How far the control points of a quarter of a circle are, in radii."""
_THICK, _THIN = 1.3, 0.45


class _Page:
    def __init__(self) -> None:
        self.commands = list[str]()

    def add(self, text: str) -> None:
        self.commands.append(text)

    def pen(self, width: float, *, dashes: str = "", color: str = "0 0 0") -> None:
        self.add(f"{width:g} w [{dashes}] 0 d {color} RG")

    def line(self, *points: tuple[float, float], closed: bool = False) -> None:
        moves = [
            f"{x:.2f} {y:.2f} {'l' if number else 'm'}" for number, (x, y) in enumerate(points)
        ]
        self.add(" ".join(moves) + (" s" if closed else " S"))

    def circle(self, x: float, y: float, radius: float) -> None:
        k = radius * _CURVE
        path = [f"{x + radius:.2f} {y:.2f} m"]
        for (ax, ay), (bx, by), (cx, cy) in (
            ((radius, k), (k, radius), (0, radius)),
            ((-k, radius), (-radius, k), (-radius, 0)),
            ((-radius, -k), (-k, -radius), (0, -radius)),
            ((k, -radius), (radius, -k), (radius, 0)),
        ):
            path.append(
                f"{x + ax:.2f} {y + ay:.2f} {x + bx:.2f} {y + by:.2f} {x + cx:.2f} {y + cy:.2f} c"
            )
        self.add(" ".join(path) + " s")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 9,
        *,
        bold: bool = False,
        middle: bool = False,
    ) -> None:
        start = x - 0.25 * size * len(words) if middle else x
        shown = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        self.add(f"BT /F{2 if bold else 1} {size:g} Tf {start:.2f} {y:.2f} Td ({shown}) Tj ET")

    def arrow(self, x: float, y: float, angle: float) -> None:
        """A filled arrow whose tip is here."""
        corners = [(7 * math.cos(angle + turn), 7 * math.sin(angle + turn)) for turn in (2.9, -2.9)]
        path = " ".join(f"{x + dx:.2f} {y + dy:.2f} l" for dx, dy in corners)
        self.add(f"{x:.2f} {y:.2f} m {path} f")

    def across(self, left: float, right: float, level: float, source: float, words: str) -> None:
        """A dimension between two places, above or below what it measures."""
        self.pen(_THIN)
        for x in (left, right):
            self.line((x, source), (x, level + (4 if level > source else -4)))
        self.line((left, level), (right, level))
        self.arrow(left, level, math.pi)
        self.arrow(right, level, 0)
        self.text((left + right) / 2, level + 3, words, middle=True)

    def upright(self, low: float, high: float, place: float, source: float, words: str) -> None:
        """A dimension between two levels, beside what it measures."""
        self.pen(_THIN)
        for y in (low, high):
            self.line((source, y), (place + (4 if place > source else -4), y))
        self.line((place, low), (place, high))
        self.arrow(place, low, -math.pi / 2)
        self.arrow(place, high, math.pi / 2)
        self.text(place + 5, (low + high) / 2 - 3, words)


def drawing(part: Flange, *, name: str) -> bytes:
    """Return a drawing of the part on one page."""
    page = _Page()
    page.pen(0.8)
    page.line((24, 24), (_WIDE - 24, 24), (_WIDE - 24, _HIGH - 24), (24, _HIGH - 24), closed=True)
    _front(page, part, (250.0, 325.0))
    _section(page, part, (600.0, 325.0))
    _title(page, name)
    return _document("\n".join(page.commands).encode(), name)


def _front(page: _Page, part: Flange, middle: tuple[float, float]) -> None:
    x, y = middle
    page.pen(_THICK)
    for radius in (part.radius, part.hub, part.bore):
        page.circle(x, y, radius * _SCALE)
    for number in range(part.holes):
        angle = 2 * math.pi * number / part.holes
        at = x + part.pitch * _SCALE * math.cos(angle), y + part.pitch * _SCALE * math.sin(angle)
        page.pen(_THICK)
        page.circle(*at, part.hole * _SCALE)
        page.pen(_THIN, dashes="8 2 1 2", color="0.75 0.15 0.1")
        page.line((at[0] - 20, at[1]), (at[0] + 20, at[1]))
        page.line((at[0], at[1] - 20), (at[0], at[1] + 20))
    page.circle(x, y, part.pitch * _SCALE)
    reach = part.radius * _SCALE + 16
    page.line((x - reach, y), (x + reach, y))
    page.line((x, y - reach), (x, y + reach))
    page.pen(_THIN)
    hole = (
        x + part.pitch * _SCALE * math.cos(math.pi / 3),
        y + part.pitch * _SCALE * math.sin(math.pi / 3),
    )
    edge = hole[0] + part.hole * _SCALE * 0.7, hole[1] + part.hole * _SCALE * 0.7
    page.line(edge, (edge[0] + 45, edge[1] + 52), (edge[0] + 105, edge[1] + 52))
    page.arrow(*edge, math.atan2(-52, -45))
    page.text(
        edge[0] + 47,
        edge[1] + 56,
        f"{part.holes} x dia. {2 * part.hole:g} on dia. {2 * part.pitch:g}",
    )
    low = y - part.radius * _SCALE
    page.across(
        x - part.radius * _SCALE, x + part.radius * _SCALE, low - 34, y, f"dia. {2 * part.radius:g}"
    )


def _section(page: _Page, part: Flange, middle: tuple[float, float]) -> None:
    """The part cut along its axis, which is horizontal; cut surfaces are hatched."""
    left, y = middle[0] - part.height * _SCALE / 2, middle[1]
    ends = left + part.thickness * _SCALE, left + part.height * _SCALE
    radius, hub, bore = (length * _SCALE for length in (part.radius, part.hub, part.bore))
    for side in (1, -1):
        outline = [
            (left, y + side * bore),
            (left, y + side * radius),
            (ends[0], y + side * radius),
            (ends[0], y + side * hub),
            (ends[1], y + side * hub),
            (ends[1], y + side * bore),
        ]
        page.pen(_THIN, color="0.35 0.45 0.6")
        _hatch(page, outline)
        page.pen(_THICK)
        page.line(*outline, closed=True)
        page.pen(_THICK)
        low, high = sorted(y + side * (part.pitch + edge * part.hole) * _SCALE for edge in (-1, 1))
        wide, high = ends[0] - left, abs(high - low)
        page.add(f"1 g {left:.2f} {low:.2f} {wide:.2f} {high:.2f} re B 0 g")
        page.pen(_THIN, dashes="8 2 1 2", color="0.75 0.15 0.1")
        page.line(
            (left - 10, y + side * part.pitch * _SCALE),
            (ends[0] + 10, y + side * part.pitch * _SCALE),
        )
    page.line((left - 18, y), (ends[1] + 18, y))
    page.pen(_THICK)
    page.line((left, y - bore), (left, y + bore))
    page.line((ends[1], y - bore), (ends[1], y + bore))
    page.across(left, ends[0], y + radius + 26, y + radius, f"{part.thickness:g}")
    page.across(left, ends[1], y - radius - 34, y - hub, f"{part.height:g}")
    page.upright(y - bore, y + bore, ends[1] + 26, ends[1], f"dia. {2 * part.bore:g} H7")
    page.upright(y - hub, y + hub, ends[1] + 92, ends[1], f"dia. {2 * part.hub:g}")
    page.text(middle[0] - 28, y + radius + 62, "Section A-A", 10, bold=True)


def _hatch(page: _Page, outline: Sequence[tuple[float, float]]) -> None:
    path = " ".join(
        f"{x:.2f} {y:.2f} {'l' if number else 'm'}" for number, (x, y) in enumerate(outline)
    )
    xs, ys = [x for x, _ in outline], [y for _, y in outline]
    page.add(f"q {path} h W n")
    step = 0
    while min(xs) + 6 * step - (max(ys) - min(ys)) < max(xs):
        at = min(xs) + 6 * step - (max(ys) - min(ys))
        page.line((at, min(ys)), (at + max(ys) - min(ys), max(ys)))
        step += 1
    page.add("Q")


def _title(page: _Page, name: str) -> None:
    left, right, low, high = _WIDE - 324, _WIDE - 24, 24, 102
    page.pen(0.8)
    page.line((left, low), (left, high), (right, high))
    for level in (50, 76):
        page.line((left, level), (right, level))
    page.line((left + 150, low), (left + 150, 76))
    page.text(left + 8, 84, name.capitalize(), 14, bold=True)
    rows = [
        ("Material", "steel 1.4301", 0, 60),
        ("Scale", "1 : 1.2", 150, 60),
        ("Drawn", "2024-05-17", 0, 34),
        ("Drawing", "VT-0042 A", 150, 34),
    ]
    for label, value, right_by, level in rows:
        page.text(left + 8 + right_by, level, f"{label}: {value}", 9)
    page.text(40, 40, "All dimensions in millimetres. General tolerances ISO 2768-m.", 8)


def _document(content: bytes, name: str) -> bytes:
    """Return a PDF with one page, whose commands are not compressed."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_WIDE:g} {_HIGH:g}] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        f"<< /Title (Drawing of a {name}) /Producer (samples/drawing.py) >>".encode(),
    ]
    out, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(out)
    count = len(objects) + 1
    out += f"xref\n0 {count}\n0000000000 65535 f \n{table}".encode()
    out += f"trailer\n<< /Size {count} /Root 1 0 R /Info 7 0 R >>\n".encode()
    return out + f"startxref\n{start}\n%%EOF\n".encode()
