"""Pictures of telephones: made by x265 from a red field whose left upper quarter is blue."""

import base64
import io

import pytest
from PIL import Image

from backend.processing.readers.documents import read_image
from backend.processing.scene import RefusedError

FILES = {
    "turned.heic": base64.b64decode(
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAchtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAA"
        "AAAAAAAAAAAAAAADRpbG9jAAAAAERAAAIAAQAAAAAB7AABAAAAAAAAAE8AAgAAAAACOwABAAAAAAAAAEoAAAA4"
        "aWluZgAAAAAAAgAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAQACAABFeGlmAAAAAA5waXRtAAAAAA"
        "ABAAABB2lwcnAAAADmaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAAD"
        "AJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAA"
        "ZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAABAAAA"
        "MAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBpeGkAAAAAAwgICAAAAAlpcm90AwAAABlpcG1hAAAAAAAAAAEAAQ"
        "aBAgMFhIYAAAAaaXJlZgAAAAAAAAAOY2RzYwACAAEAAQAAAKFtZGF0AAAASygBrxOA5TH3/9BREHRUQ/SyZk6g"
        "xCi5P3/ms8uj3NVV+ZMF1CflFB/8NR+/macpK/kvirv5CSSfMTwvMgpMDBAZ4jtFEqjuGq5dAwAAAAZFeGlmAA"
        "BNTQAqAAAACAADAQ8AAgAAAAYAAAAyARAAAgAAAAcAAAA4ARIAAwAAAAEABgAAAAAAAEFwcGxlAGlQaG9uZQAA"
    ),
    "two.heif": base64.b64decode(
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAkltZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAA"
        "AAAAAAAAAAAAAAADRpbG9jAAAAAERAAAIAAQAAAAACbQABAAAAAAAAAE8AAgAAAAACvAABAAAAAAAAAFcAAAA4"
        "aWluZgAAAAAAAgAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAAACAABodmMxAAAAAA5waXRtAAAAAA"
        "ABAAABomlwcnAAAAF6aXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAAD"
        "AJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAA"
        "ZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAABAAAA"
        "MAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBpeGkAAAAAAwgICAAAAHVodmNDAQNwAAAAkAAAAAAAHvAA/P34+A"
        "AADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm"
        "4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBiQAAAChjbGFwAAAAIAAAAAEAAAAYAAAAAf///+AAAAAC////2AAAAA"
        "IAAAAgaXBtYQAAAAAAAAACAAEFgQIDBYQAAgWGAgMFhwAAAK5tZGF0AAAASygBrxOA5TH3/9BREHRUQ/SyZk6g"
        "xCi5P3/ms8uj3NVV+ZMF1CflFB/8NR+/macpK/kvirv5CSSfMTwvMgpMDBAZ4jtFEqjuGq5dAwAAAFMoAa8TIa"
        "44aOU1U/5yEdieXbqwvLubMH2NkxeYoHoJXD6y9p4zuZVRCq2Uldjmk47HNvfnREdAKmpxuw64/6370ucftXaA"
        "1Qwsa/ziKJVky8RGuw=="
    ),
    "clear.hif": base64.b64decode(
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAmttZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAA"
        "AAAAAAAAAAAAAAADRpbG9jAAAAAERAAAIAAQAAAAACjwABAAAAAAAAAE8AAgAAAAAC3gABAAAAAAAAABMAAAA4"
        "aWluZgAAAAAAAgAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAAACAABodmMxAAAAAA5waXRtAAAAAA"
        "ABAAABqmlwcnAAAAGCaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAAD"
        "AJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAA"
        "ZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAABAAAA"
        "MAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBpeGkAAAAAAwgICAAAAHBodmNDAQQIAAAAn/gAAAAAHvAA/Pz4+A"
        "AADwNgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAYQABACVCAQEECAAAAwCf+AAAAwAAHsCCBBZbq5Ka5sCA"
        "AAAMgAAAAwCEYgABAAZEAcFzwIkAAAAOcGl4aQAAAAABCAAAACdhdXhDAAAAAHVybjptcGVnOmhldmM6MjAxNT"
        "phdXhpZDoxAAAAACBpcG1hAAAAAAAAAAIAAQWBAgMFhAACBYYDB4iEAAAAGmlyZWYAAAAAAAAADmF1eGwAAgAB"
        "AAEAAABqbWRhdAAAAEsoAa8TgOUx9//QURB0VEP0smZOoMQouT9/5rPLo9zVVfmTBdQn5RQf/DUfv5mnKSv5L4"
        "q7+QkknzE8LzIKTAwQGeI7RRKo7hquXQMAAAAPKAGuJ+fct9//mi95wCvg"
    ),
}
_RED, _BLUE = (200, 40, 30), (20, 60, 200)


@pytest.mark.parametrize("name", FILES)
def test_a_picture_is_turned_upright_and_keeps_its_colours(name: str) -> None:
    document = read_image(FILES[name])
    size = (48, 64) if name == "turned.heic" else (64, 48)
    assert (document.facts["width"], document.facts["height"]) == size
    assert document.facts["format"] == "HEIF"
    assert document.facts.get("frames", 1) == (2 if name == "two.heif" else 1)
    assert document.facts.get("camera") == ("Apple iPhone" if name == "turned.heic" else None)
    picture = document.picture.convert("RGB")
    # Turned by 90 degrees clockwise, the left upper quarter is the right upper one.
    blue, red = ((36, 8), (8, 8)) if name == "turned.heic" else ((8, 8), (56, 40))
    for place, color in ((blue, _BLUE), (red, _RED)):
        value = picture.getpixel(place)
        assert isinstance(value, tuple)
        assert max(abs(a - b) for a, b in zip(value, color, strict=True)) < 40


def test_a_picture_is_known_by_its_brands_whatever_comes_first() -> None:
    data = FILES["turned.heic"]
    assert data[8:12] == b"heic"
    assert read_image(data[:8] + b"mif1" + data[12:]).facts["format"] == "HEIF"
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, "AVIF")
    avif = out.getvalue()
    assert read_image(avif[:8] + b"mif1" + avif[12:]).facts["format"] == "AVIF"


@pytest.mark.parametrize("at", range(0, 645, 32))
def test_a_cut_picture_is_refused(at: int) -> None:
    with pytest.raises(RefusedError):
        read_image(FILES["turned.heic"][:at])
