"""Films and sound: facts, posters, strips, waveforms, and broken files.

Each film is black for half a second, then red. Those in text: x264, x265, SVT-AV1, libtheora.
"""

import base64
import io
import tempfile
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
import soundfile
from PIL import Image

from backend.processing import limits
from backend.processing.inspection import inspect
from backend.processing.readers import media
from tests.unit.processing.samples import Asset


def film(name: str, code: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*code), 10, (64, 32))
        for number in range(20):
            writer.write(
                np.full((32, 64, 3), (0, 0, 0 if number < 5 else 200 + 2 * number), np.uint8)
            )
        writer.release()
        return path.read_bytes()


def sound(form: str, subtype: str | None = None) -> bytes:
    """A second that is quiet, then loud."""
    out = io.BytesIO()
    wave = np.sin(np.arange(16_000)) * np.repeat((0.1, 0.8), 8000)
    soundfile.write(out, np.stack([wave, wave], 1), 16_000, subtype, format=form)
    return out.getvalue()


AV1 = base64.b64decode(
    "AAAAIGZ0eXBpc29tAAACAGlzb21hdjAxaXNvMm1wNDEAAAAIZnJlZQAAAF9tZGF0CgoAAAACp/82vkAQMg0QAMyA"
    "AAKAAAALPPPGMhEoBOBAAAADbwAAAUAAEACt4DIRKALggAAAg3WAAAFgADgAskAyETADwgAAgQb4AAACwABwALJA"
    "GgGoAAADI21vb3YAAABsbXZoZAAAAAAAAAAAAAAAAAAAA+gAAAEsAAEAAAEAAAAAAAAAAAAAAAABAAAAAAAAAAAA"
    "AAAAAAAAAQAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAJNdHJhawAAAFx0"
    "a2hkAAAAAwAAAAAAAAAAAAAAAQAAAAAAAAEsAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAA"
    "AAAAAAAAAAAAQAAAAABAAAAAIAAAAAAAJGVkdHMAAAAcZWxzdAAAAAAAAAABAAABLAAAAAAAAQAAAAABxW1kaWEA"
    "AAAgbWRoZAAAAAAAAAAAAAAAAAAAKAAAAAwAVcQAAAAAAC1oZGxyAAAAAAAAAAB2aWRlAAAAAAAAAAAAAAAAVmlk"
    "ZW9IYW5kbGVyAAAAAXBtaW5mAAAAFHZtaGQAAAABAAAAAAAAAAAAAAAkZGluZgAAABxkcmVmAAAAAAAAAAEAAAAM"
    "dXJsIAAAAAEAAAEwc3RibAAAAKxzdHNkAAAAAAAAAAEAAACcYXYwMQAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAABA"
    "ACAASAAAAEgAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABj//wAAABhhdjFDgQAMAAoK"
    "AAAAAqf/Nr5AEAAAAApmaWVsAQAAAAAQcGFzcAAAAAEAAAABAAAAFGJ0cnQAAAAAAAAJEAAACRAAAAAYc3R0cwAA"
    "AAAAAAABAAAAAwAABAAAAAAUc3RzcwAAAAAAAAABAAAAAQAAABxzdHNjAAAAAAAAAAEAAAABAAAAAwAAAAEAAAAg"
    "c3RzegAAAAAAAAAAAAAAAwAAABsAAAA5AAAAAwAAABRzdGNvAAAAAAAAAAEAAAAwAAAAYnVkdGEAAABabWV0YQAA"
    "AAAAAAAhaGRscgAAAAAAAAAAbWRpcmFwcGwAAAAAAAAAAAAAAAAtaWxzdAAAACWpdG9vAAAAHWRhdGEAAAABAAAA"
    "AExhdmY1OS4yNy4xMDA="
)
FILMS = {
    "turned.mp4": base64.b64decode(
        "AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDEAAAcdbW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAA"
        "B9AAAQAAAQAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAAAwAAA8Z0cmFrAAAAXHRraGQAAAADAAAAAAAAAAAAAAABAAAAAAAAB9AAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAP//AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAABAAAAAAEAAAAAgAAAAAAAkZWR0cwAAABxlbHN0"
        "AAAAAAAAAAEAAAfQAAAIAAABAAAAAAM+bWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAAoAAAAUABVxAAAAAAALWhk"
        "bHIAAAAAAAAAAHZpZGUAAAAAAAAAAAAAAABWaWRlb0hhbmRsZXIAAAAC6W1pbmYAAAAUdm1oZAAAAAEAAAAAAAAA"
        "AAAAACRkaW5mAAAAHGRyZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAqlzdGJsAAAAwXN0c2QAAAAAAAAAAQAAALFh"
        "dmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAEAAIABIAAAASAAAAAAAAAABDExhdmMgbGlieDI2NAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAGP//AAAAN2F2Y0MBZAAK/+EAGWdkAAqscgREWwEQAAADABAAAAMBQPEiWEYBAAdo6EOBNLIs"
        "/fj4AAAAABBwYXNwAAAAAQAAAAEAAAAUYnRydAAAAAAAAAScAAAEnAAAABhzdHRzAAAAAAAAAAEAAAAUAAAEAAAA"
        "ABhzdHNzAAAAAAAAAAIAAAABAAAABgAAAIBjdHRzAAAAAAAAAA4AAAABAAAIAAAAAAEAABQAAAAAAQAACAAAAAAB"
        "AAAAAAAAAAEAAAQAAAAAAQAACAAAAAABAAAoAAAAAAEAABAAAAAAAwAAAAAAAAAEAAAEAAAAAAEAABgAAAAAAQAA"
        "CAAAAAABAAAAAAAAAAIAAAQAAAAAfHN0c2MAAAAAAAAACQAAAAEAAAABAAAAAQAAAAIAAAACAAAAAQAAAAMAAAAB"
        "AAAAAQAAAAYAAAACAAAAAQAAAAcAAAABAAAAAQAAAAoAAAACAAAAAQAAAAsAAAABAAAAAQAAAA0AAAACAAAAAQAA"
        "AA4AAAABAAAAAQAAAGRzdHN6AAAAAAAAAAAAAAAUAAAAGQAAAA0AAAAMAAAADQAAAA0AAAAgAAAADQAAAA0AAAAN"
        "AAAADQAAAA0AAAANAAAADQAAAA0AAAANAAAAEgAAAA0AAAANAAAADQAAAA0AAABQc3RjbwAAAAAAAAAQAAAHTQAA"
        "B2oAAAeHAAAHmAAAB6kAAAfNAAAH6wAAB/wAAAgNAAAIHgAACDwAAAhNAAAIXgAACIEAAAiSAAAIowAAAoF0cmFr"
        "AAAAXHRraGQAAAADAAAAAAAAAAAAAAACAAAAAAAAB9AAAAAAAAAAAAAAAAEBAAAAAAEAAAAAAAAAAAAAAAAAAAAB"
        "AAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAkZWR0cwAAABxlbHN0AAAAAAAAAAEAAAfQAAAEAAABAAAAAAH5"
        "bWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAAfQAAAQoBVxAAAAAAALWhkbHIAAAAAAAAAAHNvdW4AAAAAAAAAAAAA"
        "AABTb3VuZEhhbmRsZXIAAAABpG1pbmYAAAAQc21oZAAAAAAAAAAAAAAAJGRpbmYAAAAcZHJlZgAAAAAAAAABAAAA"
        "DHVybCAAAAABAAABaHN0YmwAAAB+c3RzZAAAAAAAAAABAAAAbm1wNGEAAAAAAAAAAQAAAAAAAAAAAAIAEAAAAAAf"
        "QAAAAAAANmVzZHMAAAAAA4CAgCUAAgAEgICAF0AVAAAAAAAA/wAAAP8FgICABRWIVuUABoCAgAECAAAAFGJ0cnQA"
        "AAAAAAAA/wAAAP8AAAAgc3R0cwAAAAAAAAACAAAAEAAABAAAAAABAAACgAAAAChzdHNjAAAAAAAAAAIAAAABAAAA"
        "AQAAAAEAAAAQAAAAAgAAAAEAAAAUc3RzegAAAAAAAAAEAAAAEQAAAFBzdGNvAAAAAAAAABAAAAdmAAAHgwAAB5QA"
        "AAelAAAHyQAAB+cAAAf4AAAICQAACBoAAAg4AAAISQAACFoAAAh9AAAIjgAACJ8AAAiwAAAAGnNncGQBAAAAcm9s"
        "bAAAAAIAAAAB//8AAAAcc2JncAAAAAByb2xsAAAAAQAAABEAAAABAAAAYnVkdGEAAABabWV0YQAAAAAAAAAhaGRs"
        "cgAAAAAAAAAAbWRpcmFwcGwAAAAAAAAAAAAAAAAtaWxzdAAAACWpdG9vAAAAHWRhdGEAAAABAAAAAExhdmY1OS4y"
        "Ny4xMDAAAAAIZnJlZQAAAXNtZGF0AAAAFWWIgQACH/0Y7wKTb0xHHTDzidJngQEYIAcAAAAJQZoIjYhv/y1gAAAA"
        "CEGeEEcQ74eBARggBwAAAAkBnhgmiG//kIABGCAHAAAACQGeGG1Ib/+QgQEYIAcAAAAcZYiAgACn//20gqr4E+6W"
        "odpJ6jaGnZhhYaTvFQEYIAcAAAAJQZoJLYgh/xkxAAAACUGeEIcQQ/9+QQEYIAcAAAAJAZ4YJohv/5CAARggBwAA"
        "AAkBnhhGiG//kIABGCAHAAAACQGeGGaIb/+QgQEYIAcAAAAJAZ4YrUhv/5CAAAAACQGeGM1Ib/+QgAEYIAcAAAAJ"
        "AZ4Y7Uhv/5CBARggBwAAAAkBnhkNSG//kIEBGCAHAAAADkGaGck1AgLRMpgQ3y1hAAAACUGeIWXEP/+BgAEYIAcA"
        "AAAJAZ4pRaIb/5CAARggBwAAAAkBnimMkhv/kIEBGCAHAAAACQGeKaySG/+QgAEYIAcBGCAH"
    ),
    "a.mov": base64.b64decode(
        "AAAAFGZ0eXBxdCAgAAACAHF0ICAAAAQTbW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAB9AAAQAAAQAAAAAA"
        "AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAgAAA590cmFrAAAAXHRraGQAAAADAAAAAAAAAAAAAAABAAAAAAAAB9AAAAAAAAAAAAAAAAAAAAAAAAEAAAAA"
        "AAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAEAAAAAgAAAAAAAkZWR0cwAAABxlbHN0AAAAAAAAAAEAAAfQ"
        "AAAIAAABAAAAAAMXbWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAAoAAAAUAB//wAAAAAALWhkbHIAAAAAbWhscnZp"
        "ZGUAAAAAAAAAAAAAAAAMVmlkZW9IYW5kbGVyAAACwm1pbmYAAAAUdm1oZAAAAAEAAAAAAAAAAAAAACxoZGxyAAAA"
        "AGRobHJ1cmwgAAAAAAAAAAAAAAAAC0RhdGFIYW5kbGVyAAAAJGRpbmYAAAAcZHJlZgAAAAAAAAABAAAADHVybCAA"
        "AAABAAACVnN0YmwAAAD2c3RzZAAAAAAAAAABAAAA5mh2YzEAAAAAAAAAAQAAAABGRk1QAAACAAAAAgAAQAAgAEgA"
        "AABIAAAAAAAAAAEMTGF2YyBsaWJ4MjY1AAAAAAAAAAAAAAAAAAAAAAAAAAAY//8AAAB2aHZjQwEBYAAAAJAAAAAA"
        "AB7wAPz9+PgAAA8DoAABABlAAQwB//8BYAAAAwCQAAADAAADAB6ZigJAoQABAClCAQEBYAAAAwCQAAADAAADAB6g"
        "IIIWWZirkba8BaAgAAADACAAAAMBQaIAAQAGRAHBc9iJAAAACmZpZWwBAAAAABBwYXNwAAAAAQAAAAEAAAAYc3R0"
        "cwAAAAAAAAABAAAAFAAABAAAAAAUc3RzcwAAAAAAAAABAAAAAQAAACBzZHRwAAAAACAQEBgYEBAYGBgYGBAQGBgY"
        "GBgYAAAAeGN0dHMAAAAAAAAADQAAAAEAAAgAAAAAAQAAFAAAAAABAAAIAAAAAAEAAAAAAAAAAQAABAAAAAABAAAg"
        "AAAAAAEAABAAAAAAAwAAAAAAAAACAAAEAAAAAAEAACQAAAAAAQAAEAAAAAADAAAAAAAAAAMAAAQAAAAAHHN0c2MA"
        "AAAAAAAAAQAAAAEAAAAUAAAAAQAAAGRzdHN6AAAAAAAAAAAAAAAUAAAAEAAAAA8AAAAQAAAAEQAAABEAAAAdAAAA"
        "EwAAABQAAAAUAAAAFAAAABMAAAATAAAAFAAAABQAAAAUAAAAFAAAABQAAAATAAAAFAAAABMAAAAUc3RjbwAAAAAA"
        "AAABAAAENwAAAAh3aWRlAAABiW1kYXQAAAAMKAGvBVj6QkAf3pU+AAAACwIB0CFJ4QyCrPmTAAAADAIB4ESVeBDC"
        "CxAvoAAAAA0AAeAk/X6IhgQXYC1gAAAADQAB4Ga1/UEMCC5ALWAAAAAZAgHQWJPVfcQwIKv+GxD1neya/LCzbA+8"
        "gAAAAA8CAeECIlVf3BDAILGvZCoAAAAQAAHgoj1V39oiGAEFyLDkrwAAABAAAeDCNVVX9oiGAEF2sOSvAAAAEAAB"
        "4OI3Vd/aIhgBBciw5K8AAAAPAAHhIqyVVfJBDACC7C1gAAAADwAB4UKlJVfyQQwAguQtYAAAABACAdCY0RclV8sQ"
        "wAgqwPmTAAAAEAIB4eKiXJUnyQQwAgsQL6AAAAAQAAHhgj3Ncn2iIYAQXIAtYAAAABAAAeGiNXNUn2iIYAQXIC1g"
        "AAAAEAAB4cI3c3J9oiGAEF2ALWAAAAAPAAHiAqyXNfyQQwAguS1gAAAAEAAB4iKlJc1fJBDACC7ALWAAAAAPAAHi"
        "QqclzfyQQwAguy1g"
    ),
    "a.ogv": zlib.decompress(
        base64.b64decode(
            "eNqll3k81HsXx2eQXYy1EhqUbEmELDFiBqGZsdRoMxhLNRprlGXsQorIdRWPJSRcI/s6yDKTLCWkbSZbpYaQLe"
            "X5TTO33Od5Xs/9435ec77v+f6+53vO+f6WP84xDw87EAfoPxT61gINViH6e+Iu+mI5OcAgLqaPCQi068cyP2Dg"
            "P38g0ProMWaUv4i5cIPRILJVY2OT4iNYIbmBVXd3PAHnwfSTBAzn7XrRDedrZI0NdN11wcuF5RfJQs5NQWoJoO"
            "L4+Fh3QG5mLP2ZDIIvt/NI7Vl3FF0POnTywpTKF8/79nvFlBWdRL4HH8q65m7HF1TpoHzzqmLkdt4QQ5lk7nwY"
            "sclRRZyPywUKXNgpGMvRZhKvJyE5NqkTrHa9E6vRHZVe0+fyh2NCtWnEgVTzXOHpm5l1w7j9GYm70Zl6qRbQG3"
            "EdbaO0c9rbBDpdck1uwOVFgAvkHmc1cd6oCJOKuX8qMvkzFAZDDgzQIVAUyoRGA6YoFJIOhmgCRIEhzBGFgmqy"
            "yBp/CUQmgWEpJDKwH4pqa6ugDQLTtjYyHayJJQ0OtkE0gRmdPgiLILUNAgRGAMCfwR8cBFXkgiOjtAbIZLpmfn"
            "4HAdgfGZVmR6RDsE8PBnDSoS52BfBh/8FILf8tknESHeJck4GXMmLtYzqXlLjhgZr/VFAoKiUXEBSGZSIXhf0x"
            "zWWNfy8IFDtvamoKg8Ii5ZnERoqaMjnPnP29YBBo5JKOjo4mFFWwh8mI/FgAOgcWmbO/lybqHwoK3ACfiBQSG2"
            "1sDLIxyMYgG3Q26GzQIRAIzCe3HcwCB5QFeRQLaBQLaBQL6BQWUvPYyAWDwbCIdo4IFqLY4GKDC8wCF5gFbg4W"
            "eNngBYWcOeUfeublR2ON8ood7kohMdJtz8Su+PaaNyTrksMmRc2a20ipa8/Q2r3lnaPRfD1tn2SsM/qw1feFkk"
            "rQTV8vCVMM4r0yTyeSuDRSELH3kRfcmsJ8GS7HEVXBSnzLDhawhKl7AMq7IrXSnkSNGc7UQ8nUYdeLt40T5ppE"
            "F2rXlWQKZQen0WZdHB+G3e2Q51u2q0MRSxGXxT+TehsVTBjIK4g7vln4SxXHt6gk8bYobiSal/oK15kZZJ1lQL"
            "2kBTvT/6VrazWBXL6on/rFPp13Qc82vXR0n24C5HREQQTlbVxjwJsNt675UWWeB+SqGYNkNUdXYSI1GX7N7Aml"
            "emPobv3znSdC5JS4nlCqgtRpWh/eSTpyOblS0plLfGWyTR+5h8w3OEdXQ/nqoz+unXQuI+y5ZePfCZ6ynXWwIC"
            "qOzLxstt2TcU6o7wFWdEhXQFXIuFMWEUYoSU3bMnjH7WH+2Zj0RArl7hjiTp2fSJwP44Lce7z5Xt5yQucMxjz9"
            "uuLZF5egOkOhvyV15BqvudXsSEAqRGMwDQufLKfCxqLN6iveObkt2wr8tpLSHyCBVis9uzd0ljh2dWOkMAgufw"
            "PXIf5ybJ/B0yBngRlMMfGDrHRIQ66t6sls38D4xXSzJ4jVQrjYlFRfOTluocgHnzA9wH/Oy5Mwuc1GdUxx4VSS"
            "bu+O+tilm+mjXTSFF8s8PhweVUeV7tgXaSkNqGPrhA10+PcsYeTPC32aVu10d54cuuxWt3E94Z5TO2htab/YxM"
            "vzY/tut6uV+YHpqi5Xm1ONBDCtdAf5jIcXDdbvdHmqSbx8RTxnjUdUUsRsEzGHorvWYuyT6vX7xNa9t0KiO4Wq"
            "l04bkE4XSGf0iQZLyvGqoOGzAkeWlA3LXK9278s74kfo3YF8cdY9Q/W7eN1tl8d5im7RTz6Vdeve+Upbe5YeGU"
            "/Y8MlA2qsUGHjy3R2z8Zyi39YlH65a/7Lz9AnH4OhPvSQaWh4pVJiB0Y4JR/DUB1V1tCCGVTU95Cb4GBeRmNNW"
            "l/gYClyPqzMsD8S0hbdsjdlOH3uTbO3yHeygJG/9m+sEN0PYpSpgXsovngqueeC171L5N5xLiYVjc44vj3C+7L"
            "5vOA/z+cAJbLw2vvQ5NX9vjH0tOAs+NplUG8rHGRfzUdxmJaHTy0Dfack/JF4FTbusKX2OUuiPDQ+UznWsNnro"
            "2SB7dFfWRj2P8MFXRlNKijbFsdwBicoOKX5HirDalVfkpked5ERWO6R7a40NEH9oJaqe8nwvsifDyyif4/ckWp"
            "VTC+e0XO1tIXFR0ZqssyHtNIRUyCQGZ3XiQQBvyCN+B7mGWLCfrPQwxitItBBf+jsiRyl50CiPsPbBYWelEPNS"
            "dtf3ucCr8DAZbPsLfpq3q+Bbnv5VO2S14PiDMW5Xy6zzapn6LZWdr3duoyUYdU1slE9uMd/lpvNMy3oyN1mmIa"
            "HyobGsglHqsuS1gTKp4u3avS9OnbAx9pQYtUMmjt87JJf61f+ingRavzV6atv84SpofuuA4CD3WIHNvpTJ9zjc"
            "a2/llwsxrWBJ5Cswde6GjSrev89QrtEVhnObvVyMXnGx0HmmavmAGn+yLuBdGHaH6vpx55z0+40w5Ou7+3nO59"
            "Fqi17HH6UIPq62enLhN/pGnPIQvJLUbIWcgywqnmlLhNbc+91D4zv5kG1D5Jv7QSQpV6qDnqKGFRl/L+2xVtfE"
            "UjzKD/Rl/vqwI3y2rDtdWfKbQo6FSGlpktTNA15ZnHifxu95MkVHEdLxfabvE3u3u3hl4T1rn0uYoPUZnV6WGy"
            "sxD23Wxa9jtfOL+UYJ4RkdV5IwCxhnMwurMbzr7KPhIZWCuketHPuZB7upbX92LmxmRFATVo9P6Am+7WABt7Dy"
            "0sL75S2rEaALtECqxifZL11vr5QeB/Frti6ukwtzz82Cd/U+cR97dAuiwGiv0ris99WnfuAhRbMQX50O59NAUH"
            "+PFz5cWpFTWys5Fy6u4GOYc+iqgyLvsfCqStIbVB0/Jx6j3S8ppnFrlnt8cSYC2LY/95buY0XPrcdwa6IlZsfU"
            "y7BvTvGK6qXFUEa+MRwscW6mfvSakm1n6h5JZn7VeuTKc+azVdFwJJH5JAr6DIOhLRPCrypwIjmPJBjK9zjjkN"
            "fF5svJZ2XeqCOdLXZ7adbUTybZvG5ct0POTjuSjRQS09OzvU3XmxW4FfC4PV7Zx8UGyRiMFPJesUJIXdOBzELf"
            "a9XdfDvL8jgfv74+PUu8RkU8XStJab0hknYJ0pnQPnG/K7NmqN39xMZFWNOZyJGNS90x6ZEOHWpO7vgSd6l+hL"
            "L+LgR/iRUqq/GDPAdCUqJ+t0AhNnwcb03yyqFK9tM/HpRAE5MwJ8bDKKeuptni72/EnqjqbRiW+vJejAIVMay2"
            "gQn1hSvtVxQDXl+Mb3cj/zK/gnl4n8zlra22FkLVzBJJ7V9L7ECf+9vjy16Sukv6xqPtUMJ3m1ZM4LnQvcBLYb"
            "0Hd23ZW265M4HyPUAEDr6lrgV8JAKMjMUN38rqg7whxFei5pLNhBnSe4rp09WoH8VPSfW/fqeiHPS2/aB36nqM"
            "eFQQBRpPJOgLEjxSLswwrFdGEF9981uPqgarlMA/px6BgGj+22j98s9HXmZ+Lr++NIkIu+U472B/bVwxVh5Mfq"
            "fZlm3+4I96rfHTcp+oyd/UyiZK7kmgCTnFYNE566daeBwVrnfkLbWzqWXx9HMZOYaAa+xdjVOt/8Kc4smKoQhu"
            "Syr0yqypfGPMEy7/Tnh6muqgViqHkiqjmxAszqQBh7TMdI15lX9yAIOhjjxdgdOV8N92mfqHpe3PvKX6WAtfNm"
            "RWmHezJ2JxMXA8x7RRgeitbrzd5ekBd6ms8/7NlkKm4sccj1sVcAbLgudxy7ZV5/O/JRE80poaCfnFPSL5inzm"
            "wxVNmWbTocZrnc4vjhsCe42+ze+2T/8/T4/V05hs6mmYbVJXNbQALGj8QZi8wrE4Fgo0Miy/I5v8OAFrae3I4h"
            "QTEg9/55Pqa6l4c05WuFnLoyWAGA0Kf0fI7CcHGRa9coaCfq1zN2t4ND/sESGyI5qAf0XkAkwvLkodLPIj8+HF"
            "5uyVoi/6ZDO2L3GT7xbAzkQuYMFirCo/h2avTvWHdmuvcZmw3SM2uTNbsSMGT4bBAkBdlP46o2GOP8+0uS/kAe"
            "z5LfLVn1Hx2asMIKr/r6icm9x5AVt+6N3FKSAhtCnur9OCmo57tIyPhXKI/PV+sDNz/grFB9hl2x1OPzPbZK8u"
            "AZkXN2Xe5M7sTUEj23ZyighJAOkyKYqpx+o4PuuH/kj/P+88qOmoR8vEDmYt7PRcv+IJADaU3OPyM7169ur3/t"
            "Ae+03pN7kLApbMTxTllPiR/mcGBJBB/79Ou9njCODh9LMGrh/PkS0hwFCrNro/axDK/krWucKAFw3Ig/4N6aju"
            "0A=="
        )
    ),
    "a.avi": film("a.avi", "mp4v"),
    "a.webm": film("a.webm", "VP90"),
    "a.mkv": film("a.mkv", "MJPG"),
    "named.mp3": film("a.mp4", "mp4v"),
}
SOUNDS = {
    "a.wav": sound("WAV", "PCM_24"),
    "a.aiff": sound("AIFF"),
    "a.flac": sound("FLAC"),
    "a.ogg": sound("OGG", "VORBIS"),
    "a.opus": sound("OGG", "OPUS"),
    "a.mp3": sound("MP3"),
    "named.mp4": sound("WAV", "FLOAT"),
}
FILES = FILMS | SOUNDS


def _picture(data: bytes | None) -> Image.Image:
    assert data is not None
    return Image.open(io.BytesIO(data))


@pytest.mark.parametrize("name", FILMS)
def test_a_film_has_facts_and_its_first_frame_that_is_not_black(name: str) -> None:
    inspection = inspect(name, FILMS[name], Asset(), turntable=True)
    assert inspection.refused is None
    facts, turned = inspection.facts, name == "turned.mp4"
    size = (32, 64) if turned else (64, 32)
    assert (facts["width"], facts["height"]) == size
    frames = None if name == "a.ogv" else 20  # MediaInfo counts none in Ogg
    assert (facts["duration"], facts["frameRate"], facts.get("frames")) == (2, 10, frames)
    assert facts.get("rotation", 0) == (270 if turned else 0)
    assert facts.get("audioCodec") == ("AAC" if turned else None)
    poster = _picture(inspection.thumbnail).convert("RGB")
    assert poster.size == tuple(side * 8 for side in size)
    red, *others = poster.resize((1, 1)).tobytes()
    assert red > 200
    assert max(others) < 60
    strip = _picture(inspection.turntable)
    assert max(strip.convert("L").tobytes()) < 20
    # Frames that do not differ are one.
    count = getattr(strip, "n_frames", 1)
    assert count == {"turned.mp4": 2, "a.mov": 2, "a.ogv": 10}.get(name, 8)
    strip.seek(count - 1)
    assert strip.convert("RGB").resize((1, 1)).tobytes()[0] > 200


@pytest.mark.parametrize("name", SOUNDS)
def test_sound_has_facts_and_a_waveform(name: str) -> None:
    inspection = inspect(name, SOUNDS[name], Asset(), turntable=True)
    assert inspection.refused is None
    facts = inspection.facts
    assert facts["duration"] == (pytest.approx(1, abs=0.15) if name == "a.mp3" else 1)
    assert facts["channels"] == 2
    assert facts["audioCodec"]
    assert "leftOut" not in facts
    assert inspection.turntable is None
    pixels = np.asarray(_picture(inspection.thumbnail).convert("L")) < 180
    quiet, loud = pixels[:, 100].sum(), pixels[:, 400].sum()
    assert 0 < quiet < loud / 4
    assert loud > 100


def _piped(flac: bytes) -> bytes:
    """FLAC as it is written to a pipe: the 36 bits of its length are 0."""
    return flac[:21] + bytes((flac[21] & 0xF0, 0, 0, 0, 0)) + flac[26:]


FLAC = SOUNDS["a.flac"]
_TRUNCATED = "what is missing of the file: it is truncated"


@pytest.mark.parametrize(
    ("data", "duration", "left_out"),
    [
        (_piped(FLAC), 1, None),
        (_piped(FLAC)[: len(FLAC) // 2], 0.512, None),
        (FLAC[: len(FLAC) // 2], 0.512, _TRUNCATED),
        (FLAC[:1000], None, _TRUNCATED),
        (FLAC[:50], 1, "the waveform: the sound is damaged or truncated"),
        (SOUNDS["a.ogg"][:2652], None, "the waveform: the sound is damaged or truncated"),
        (SOUNDS["a.aiff"][:32_027], 0.5, _TRUNCATED),
    ],
    ids=["piped", "piped and cut", "cut", "start", "header", "Ogg", "AIFF"],
)
def test_sound_is_read_as_far_as_it_goes(
    data: bytes, duration: float | None, left_out: str | None
) -> None:
    inspection = inspect("a.flac", data, Asset())
    facts = inspection.facts
    assert (facts.get("duration"), facts.get("leftOut")) == (duration, left_out)
    is_heard = duration is not None and left_out in {None, _TRUNCATED}
    assert (inspection.thumbnail is not None) == is_heard


def test_a_film_in_av1_has_its_key_frames() -> None:
    inspection = inspect("a.mp4", AV1, Asset(), turntable=True)
    facts = inspection.facts
    assert (facts["videoCodec"], facts["width"], facts.get("leftOut")) == ("AV1", 64, None)
    assert _picture(inspection.thumbnail).size == (512, 256)
    assert _picture(inspection.turntable).size == (256, 128)
    assert media.is_key(b"\x12\0\x0a\x0a")
    assert not media.is_key(b"\x32\xff" * 9)


def test_a_film_whose_frames_cannot_be_decoded_has_facts() -> None:
    for old, new in ((bytes.fromhex("0a0a00000002"), bytes(6)), (b"\x32\x0d\x10", b"\x32\x0d\xff")):
        facts = inspect("a.mp4", AV1.replace(old, new), Asset()).facts
        assert (facts["videoCodec"], facts["width"]) == ("AV1", 64)
        assert facts["leftOut"] == "the picture: no frame of AV1 is decoded"


def test_large_frames_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FRAME_PIXELS", 2000)
    inspection = inspect("a.avi", FILMS["a.avi"], Asset())
    assert inspection.facts["leftOut"] == "the picture: 64 x 32 pixels, more than 0 megapixels"
    assert inspection.thumbnail is None


def test_a_film_that_takes_long_has_the_frames_that_were_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(media, "_SHARE", 0)
    inspection = inspect("a.avi", FILMS["a.avi"], Asset(), turntable=True)
    assert inspection.facts["duration"] == 2
    assert inspection.turntable is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0\0\0\x18ftypisom", "neither a film nor sound"),
        (b"#EXTM3U\nhttps://example.com/a.ts\n", "neither a film nor sound"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "neither a film nor sound"),
        (bytes(64) + FILMS["a.webm"][64:], "neither a film nor sound"),
        (bytes(5000), "blank"),
        (FILMS["a.mov"][:200], "neither a film nor sound"),
    ],
)
def test_what_is_no_film_is_refused(data: bytes, reason: str) -> None:
    assert reason in str(inspect("a.mp4", data, Asset()).refused)


@pytest.mark.parametrize("name", FILES)
def test_a_cut_file_has_facts_or_a_reason(name: str) -> None:
    data = FILES[name]
    for part in range(20):
        inspection = inspect(name, data[: len(data) * part // 20], Asset())
        assert bool(inspection.refused) != bool(inspection.facts)
