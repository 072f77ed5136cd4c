"""E57: scans with poses, numbers of any width, and files that are damaged."""

import base64
import struct
import time
import zlib
from collections.abc import Mapping

import numpy as np
import pytest

from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers.models import read_model
from tests.unit.processing.samples import CORNERS, Asset, facts_without_pictures

BOX = CORNERS.astype(np.float64) * [1, 2, 3]
# The box, red and blue, and again turned by 90 degrees around z and moved by 10 along x: written by
# libE57 (pye57 0.4.19).
TWO_SCANS = zlib.decompress(
    base64.b85decode(
        b"c-rk*&u`;I6mBIXP$h)47bJv`v9u@T_($TzfyCW5-R@S}vQ=BEWvfM+*pt*?d$Qw6lNKRy=D2?X2M%zC-"
        b"9KRu2#$N$e*g)IGY2Gi9@~kXI6qn%RlCYWm0Qm@-+S}sy_s*Cjf2Bo>9$^3U5T3zJ)Xxep1l{pe<OM%xL@Pv-"
        b"b%KuuKcv}CXhs*xA<qgeY>9h8MIsRPtM=Brao`(+%RwMJTaeoFX4G(-G5nLf9f4`{(s|^kQU=MI+yoXU){OX*883-"
        b"oMIX{#IK8LK@kP)Tf}z!c3u4Ja9c9Ob#twT^~ydWOkignTo(@*?OLo$vA8BA4S4*ZE}k&f`B;{Fy<PzY%qtMumK*nXcX"
        b"tkDNEcaCR7C<Z=`=KD!th#)P!F+Bk%x!uU|lq8A09WhHV!wAHz3&r7%ddHgdGpHp;y>K3<=wgiyu8QYx0nTQ?|Q~J&Ej"
        b"V-LUj(rPP#+s%=Xp6{}KH(`-pCmsK6>#b#5le8X8o8qOETXBT}*Xw19gGu*~hG}W4%?#|#He+(~k07T%P)1-)=9YxSd-"
        b"geHyU@3)CL9KG1#zt~Jix3J+h8W((4B269GK7&;i(<rJ2*eH_I_Y@Ft7-D(tl4q@5puf;Xxk--MLa*>k)8m`2{st<9IN"
        b"3H>#Kd-"
        b"!W0q*+qv_VM@{p$p`Wm%(SRdtF+xQFxi0D5#SBx@#y%$9pmE~3HjqPlCLW%0Fz=W!iCI~op<>x6sb#5&)RI)vZO8{3L#"
        b"VB4wT!At)u^Cs7I02~N}3WsN=83ULq33EuY)NHJsXcCM^NlSXio9nuIJbeJDUJQ%p*bP1XIV_qc{jA6WTbisMBGy(n>f"
        b"@<yC6XfXMM}+}|W!-wq~5Ih+9LL8d!i*UMY`6bSWmKxU;T4?9yMEaG-Oe>QWB%O%fvfWh%O_+s32zM7m0PAXsw`vI)sJ"
        b";!s{)SwNZS%*f}G6T$b6amBCXB3cjG2_ml10qJ~Y!^9fAKRlLd#?O;lDiBMI)9ZlU58yDiy0k#hhjY6f+yHnw$i9khE3"
        b"Sq<}}8kvuve6!zD<CdKi9084eue&n~V0tnBDd%8LH@tY@ZLeu`-"
        b"|`D~o*d=}YxE?KcApN|JA8<0UqhXi=~#=}r{mm9+Xsy7y!UZ%f4X$oOPru3apoVuJimU_o1@&k7ccNgGJ%JwkmVQ`0si"
        b"}kqcz)k^(0|u)xE$a67FaG*xx<W{{uK5*0<kP4ddH&t@?Wx`^+%s?>m7%c5CKcQuUMD=6v7Km{7U<LatyX|pT`U=*K(P"
        b"fntpQmMFO0O?9Y`4x(o9c|L8Uy%Oicj0mJ><%08V-ri-"
        b"H%`XI%tE??n~I1(c2@MNQS*gM0&@U(SHW3v9@ePyX<7<V7Ga=qdV#8T!F-"
        b"ciGrv3o1FRMv`K}ymdWqI6r^>55eXzi!U@D>O0A(%wc9@E4YN<P7bqhxcU3D?><OvBVh%^vRqE-@+(v73J7$?(2-"
        b"<mEj?7~mV}yyA)%65Z5h>)uG-cGl{)K@rBYui_19jhFGi)m`^zUkE|vN`O5IfPM+z6?QRhtIZd|2sR|`tEX;&-"
        b"dN9m2~wTt^oL8+)pxniiQQPxWpy;6+i&LSlLWNYV(xeN@_>3S~(?%RL9b3M}gwYwB(y0*L(EN=y`)~#Ugh59)EW-"
        b"#Ba03<B`$3Oqw@lYEF+Qq*G0MQf=HP`spBH{N_+~TtSm-WA_|Hak+4}bjq#ec%6hFJ"
    )
)


def checksum(page: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in page:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def with_checksums(content: bytes) -> bytes:
    content += bytes(-len(content) % 1020)
    pages = [content[at : at + 1020] for at in range(0, len(content), 1020)]
    return b"".join(page + struct.pack(">I", checksum(page)) for page in pages)


def packed(values: np.ndarray, bits: int) -> bytes:
    whole = sum(int(value) << (place * bits) for place, value in enumerate(values))
    return whole.to_bytes((len(values) * bits + 7) // 8, "little")


def e57_of(
    columns: Mapping[str, tuple[str, bytes]], scan: str = "", *, count: int = 8, root: str = ""
) -> bytes:
    """Return a file of one scan; each column has its attributes and its bytes."""
    streams = [content for _, content in columns.values()]
    packet = b"".join(struct.pack("<H", len(stream)) for stream in streams) + b"".join(streams)
    packet += bytes(-(len(packet) + 6) % 4)
    packet = struct.pack("<BBHH", 1, 0, len(packet) + 5, len(streams)) + packet
    section = struct.pack("<B7x3Q", 1, 32 + len(packet), 80, 0) + packet
    prototype = "".join(f"<{name} {kind}/>" for name, (kind, _) in columns.items())
    text = (
        f'<?xml version="1.0"?>{root}<e57Root xmlns="http://www.astm.org/COMMIT/E57/2010-e57-v1.0">'
        f'<data3D><vectorChild>{scan}<points fileOffset="48" recordCount="{count}"><prototype>'
        f"{prototype}</prototype></points></vectorChild></data3D><images2D/></e57Root>"
    ).encode()
    start, pages = 48 + len(section), -(-(48 + len(section) + len(text)) // 1020)
    place = start // 1020 * 1024 + start % 1020
    header = struct.pack("<8sII4Q", b"ASTM-E57", 1, 0, pages * 1024, place, len(text), 1024)
    return with_checksums(header + section + text)


def floats(
    places: np.ndarray, names: str = "cartesian", ends: tuple[str, ...] = ("X", "Y", "Z")
) -> dict[str, tuple[str, bytes]]:
    kind = 'type="Float" precision="double"'
    return {
        f"{names}{end}": (kind, places[:, n].astype("<f8").tobytes()) for n, end in enumerate(ends)
    }


def scaled(bits: int) -> dict[str, tuple[str, bytes]]:
    kind = f'type="ScaledInteger" minimum="-7" maximum="{2**bits - 8}" scale="0.5" offset="1"'
    return {
        f"cartesian{axis}": (kind, packed(BOX[:, n] * 2 - 2 + 7, bits))
        for n, axis in enumerate("XYZ")
    }


def spherical() -> dict[str, tuple[str, bytes]]:
    flat = np.hypot(BOX[:, 0], BOX[:, 1])
    angles = np.arctan2(BOX[:, 1], BOX[:, 0]), np.arctan2(BOX[:, 2], flat)
    places = np.stack([np.hypot(flat, BOX[:, 2]), *angles], 1)
    return floats(places, "spherical", ("Range", "Azimuth", "Elevation"))


def states(*values: int) -> dict[str, tuple[str, bytes]]:
    kind = 'type="Integer" minimum="0" maximum="2"'
    return {"cartesianInvalidState": (kind, packed(np.array(values), 2))}


GREY = {"intensity": ('type="Integer" minimum="0" maximum="4"', packed(np.full(8, 2), 3))}
FILES = {
    "floats.e57": e57_of(floats(BOX)),
    "spherical.e57": e57_of(spherical()),
    "grey.e57": e57_of({**floats(BOX), **GREY}),
    **{f"{bits}.e57": e57_of(scaled(bits)) for bits in (5, 8, 13, 32, 57)},
}


@pytest.mark.parametrize("name", FILES)
def test_points_are_read_from_numbers_of_any_width(name: str) -> None:
    facts = facts_without_pictures(name, FILES[name])
    assert (facts["points"], facts["unit"], facts["scans"], facts["images"]) == (8, "metre", 1, 0)
    (part,) = read_model(FILES[name], name, "e57", Files(Asset())).parts
    assert np.allclose(part.positions, BOX)
    colors = part.colors
    assert (None if colors is None else colors[0].tolist()) == (
        [0.5, 0.5, 0.5, 1] if name == "grey.e57" else None
    )


def test_scans_of_another_program_are_placed_by_their_poses() -> None:
    inspection = inspect("a.e57", TWO_SCANS, Asset())
    facts = inspection.facts
    assert (facts["points"], facts["scans"], facts["generator"]) == (16, 2, "pye57-0.4.19")
    assert (facts["sizeX"], facts["sizeY"], facts["sizeZ"]) == (10, pytest.approx(2), 3)
    assert inspection.thumbnail
    assert inspection.glb
    first, second = read_model(TWO_SCANS, "a.e57", "e57", Files(Asset())).parts
    assert np.allclose(second.positions, BOX @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] + [10, 0, 0])
    assert first.colors is not None
    assert first.colors[0].tolist() == [1, 0, 0.2, 1]


def test_points_that_are_not_valid_are_left_out() -> None:
    places = BOX.copy()
    places[1] = np.nan
    data = e57_of({**floats(places), **states(1, 0, 0, 0, 0, 0, 0, 2)})
    facts = facts_without_pictures("a.e57", data)
    assert (facts["points"], facts["leftOut"]) == (5, "3 of 8 points are not valid")


def test_of_many_points_a_sample_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.processing.limits.SAMPLED_POINTS", 6)
    scene = read_model(TWO_SCANS, "a.e57", "e57", Files(Asset()))
    assert scene.total_points == 16
    assert [len(part.positions) for part in scene.parts] == [3, 3]


_ROTATED = "<pose><rotation><w/><x/></rotation></pose>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"ply\n", "it does not begin with ASTM-E57"),
        (FILES["13.e57"][:30], "truncated: the E57 header does not end"),
        (FILES["13.e57"][:1000], "truncated: 1024 bytes declared, the file has 1000"),
        (FILES["13.e57"].replace(b"cartesianX", b"cartesianQ"), "the checksum of page 1 is wrong"),
        (FILES["13.e57"][:8] + bytes(56) + FILES["13.e57"][64:], "pages of 0 bytes"),
        (e57_of(floats(BOX), count=1 << 32), "4294967296 points are too many"),
        (e57_of(floats(BOX), count=9), "truncated: 9 points declared, 8 in the file"),
        (e57_of(floats(BOX), count=0), "contains no points"),
        (e57_of({}, count=8), "have no coordinates"),
        (e57_of(floats(BOX * np.nan)), "none of its 8 points is valid"),
        (e57_of(floats(BOX), _ROTATED), "rotation of a scan has no length"),
        (e57_of(floats(BOX), "<pose>"), "is not valid: mismatched tag"),
        (e57_of(floats(BOX), root='<!DOCTYPE a [<!ENTITY b "c">]>'), "declares a document type"),
        (e57_of({**floats(BOX), "a": ('type="String"', b"")}), "a field of the type String"),
        (e57_of({**floats(BOX), "a": ('type="Integer" minimum="x"', b"")}), "'x' in the E57 file"),
        (e57_of(scaled(58)), "a field of 58 bits"),
    ],
)
def test_a_malformed_file_is_refused(data: bytes, reason: str) -> None:
    assert reason in str(inspect("a.e57", data, Asset()).refused)


@pytest.mark.parametrize("data", [TWO_SCANS, FILES["13.e57"]], ids=["two", "13"])
def test_a_file_that_is_cut_or_changed_anywhere_is_refused(data: bytes) -> None:
    started = time.process_time()
    for part in range(20):
        at = len(data) * part // 20
        assert "refused" in facts_without_pictures("a.e57", data[:at])
        changed = data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]
        assert "refused" in facts_without_pictures("a.e57", changed)
    more = facts_without_pictures("a.e57", data + data)
    assert more["leftOut"] == f"{len(data)} bytes after the last page"
    assert time.process_time() - started < 5
