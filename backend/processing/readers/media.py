"""Films and sound: facts by MediaInfo, frames by OpenCV, samples by libsndfile. None is encoded."""

import functools
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from backend.numbers import is_finite
from backend.processing import limits
from backend.processing.readers.av1 import decode_key, is_key
from backend.processing.readers.json_values import listing, mapping
from backend.processing.scene import Floats, RefusedError, words_of

_MODULES = ("cv2", "pymediainfo", "soundfile")
# Facts of a film and of sound, and how MediaInfo names them.
_FILM = {
    "videoCodec": "Format",
    "frameRate": "FrameRate",
    "rotation": "Rotation",
    "frames": "FrameCount",
    "width": "Width",
    "height": "Height",
}
_SOUND = {"audioCodec": "Format", "channels": "Channels", "sampleRate": "SamplingRate"}
# The share of the file's processor time after which no more of it is decoded.
_SHARE = 0.4
# Frames at the beginning, after which the poster is one of those over the whole film.
_FIRST = 100
_STRIP = 10
_BLACK = 12  # the mean of the colours, up to which a frame is no poster
_BLOCK = 1 << 20
_STEP = 256  # samples of long sound of which the loudest is kept
_MOST_SAMPLES = 1 << 48
_MOST_FRAMES = 1 << 32
# Error codes of libsndfile: unknown formats and codecs.
_UNKNOWN = (1, 4)
_GROUND, _WAVE = (236, 239, 244), (52, 98, 158)
_SILENCE = (
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\2\0\0\0\0\0"
)


@dataclass(frozen=True, eq=False)
class Film:
    """A film or sound: its facts, a frame or waveform, and what returns frames over its length."""

    facts: dict[str, str | float]
    picture: Image.Image | None
    strip: Callable[[], list[Image.Image]] | None


class _Sound(NamedTuple):
    """Sound as far as it was decoded, and why no more of it."""

    peaks: Floats | None = None
    seconds: float = 0.0
    is_truncated: bool = False
    problems: tuple[str, ...] = ()

    def waveform(self) -> Image.Image | None:
        """Return a drawing of the loudness over time, None if no sound was decoded."""
        if self.peaks is None:
            return None
        width, height = limits.THUMBNAIL_PIXELS, limits.THUMBNAIL_PIXELS // 2
        columns = np.maximum.reduceat(self.peaks, np.arange(width) * len(self.peaks) // width)
        rows = np.abs(np.arange(height) - height // 2)[:, None]
        is_wave = rows <= columns / max(float(columns.max()), 1e-9) * (height * 0.45)
        return Image.fromarray(np.where(is_wave[..., None], _WAVE, _GROUND).astype(np.uint8))

    def with_duration(
        self, facts: dict[str, str | float], *, is_truncated: bool
    ) -> dict[str, str | float]:
        """Return the facts with the duration that was read, if the declared one is not true."""
        # MediaInfo counts what Opus skips at its start. Damaged frames of MP3 are not decoded.
        is_exact = facts.get("audioCodec") != "MPEG Audio"
        if self.seconds and (is_truncated or is_exact or "duration" not in facts):
            return {**facts, "duration": round(self.seconds, 3)}
        known = {name: value for name, value in facts.items() if name != "duration"}
        return known if self.is_truncated else facts


@functools.cache
def library() -> Any:
    """Return the libraries, which have read a file: a confined process loads nothing."""
    # Only the function `InspectMedia` has them.
    modules: Any = SimpleNamespace(**{name: import_module(name) for name in _MODULES})
    modules.cv2.setNumThreads(0)
    if len(_tracks_of(modules, _SILENCE)) != 2 or _read_sound(modules, _SILENCE, "").peaks is None:
        raise ImportError("MediaInfo or libsndfile cannot read a file")
    return modules


def read_media(data: bytes) -> Film:
    """Read a film or sound. Its frames are decoded when they are requested.

    Raises:
        RefusedError: it has neither.
    """
    modules = library()
    tracks = _tracks_of(modules, data)
    film, sound = tracks.get("Video"), tracks.get("Audio")
    whole = tracks.get("General", {})
    if film is None and sound is None:
        raise RefusedError("neither a film nor sound of a known format")
    known = {"format": whole.get("Format"), "duration": whole.get("Duration")}
    known |= {name: film.get(field) for name, field in _FILM.items()} if film else {}
    known |= {name: sound.get(field) for name, field in _SOUND.items()} if sound else {}
    facts = {name: value for name, text in known.items() if (value := _value(text)) is not None}
    if not facts.get("rotation", 1):
        del facts["rotation"]
    if film and facts.get("rotation") in {90, 270}:
        facts |= {"width": facts.get("height", 0), "height": facts.get("width", 0)}
    left_out = list[str]()
    is_truncated = mapping(whole.get("extra")).get("IsTruncated") == "Yes"
    strip = None
    if film:
        frames = (_KeyFrames if film["Format"] == "AV1" else _Frames)(modules, data, film)
        if frames.seconds:
            facts.setdefault("duration", round(frames.seconds, 3))
        picture, strip = frames.poster(), frames.strip
        if picture is None:
            left_out.append(
                frames.problem or f"the picture: no frame of {film['Format']} is decoded"
            )
    else:
        heard = _read_sound(modules, data, str(facts.get("audioCodec")))
        picture, is_truncated = heard.waveform(), is_truncated or heard.is_truncated
        facts = heard.with_duration(facts, is_truncated=is_truncated)
        left_out += heard.problems
    if is_truncated:
        left_out.insert(0, "what is missing of the file: it is truncated")
    if left_out:
        facts["leftOut"] = "; ".join(left_out)
    return Film(facts, picture, strip)


def _tracks_of(modules: Any, data: bytes) -> dict[str, Mapping[str, Any]]:
    """Return the first known track of each kind; that of the whole file is `General`."""
    try:
        text = modules.pymediainfo.MediaInfo.parse(
            io.BytesIO(data), output="JSON", full=False, encoding_errors="replace"
        )
        media = mapping(mapping(json.loads(text)).get("media"))
    except (ValueError, RuntimeError) as error:
        raise RefusedError(f"MediaInfo cannot read it: {words_of(error)}") from None
    tracks = reversed([mapping(track) for track in listing(media.get("track"))])
    return {str(track.get("@type")): track for track in tracks if track.get("Format")}


def _value(text: object) -> str | float | None:
    """Return a number, or the text if it is none."""
    if text is None:
        return None
    try:
        number = float(str(text))
    except ValueError:
        return str(text)
    if not is_finite(number):
        return None
    return round(number, 3 if number % 1 else None)


class _Frames:
    """The frames of a film, within a share of its processor time."""

    def __init__(self, modules: Any, data: bytes, film: Mapping[str, Any]) -> None:
        self._cv2 = modules.cv2
        self._ends = time.process_time() + limits.cpu_seconds_for(len(data)) * _SHARE
        # One thread: a confined process starts no others.
        one = [self._cv2.CAP_PROP_N_THREADS, 1]
        source = io.BytesIO(data)
        self._capture = self._cv2.VideoCapture(source, self._cv2.CAP_FFMPEG, one)
        ratio = _value(film.get("PixelAspectRatio"))
        self._ratio = ratio if isinstance(ratio, float) and 0.1 < ratio < 10 else 1.0
        seconds = _value(film.get("Duration"))
        if seconds is None or isinstance(seconds, str):
            # MediaInfo has none of films in Ogg. The count is estimated from the length.
            count = self._capture.get(self._cv2.CAP_PROP_FRAME_COUNT)
            rate = self._capture.get(self._cv2.CAP_PROP_FPS)
            seconds = count / rate if 0 < count < _MOST_FRAMES and rate > 0 else 0.0
        self.seconds = seconds
        self.problem = ""

    def poster(self) -> Image.Image | None:
        """Return the first frame that is not black, else the brightest of those over the film."""
        if not self._capture.isOpened():
            return None
        sides = (self._cv2.CAP_PROP_FRAME_WIDTH, self._cv2.CAP_PROP_FRAME_HEIGHT)
        width, height = (int(self._capture.get(side)) for side in sides)
        if width * height > limits.FRAME_PIXELS:
            most = limits.FRAME_PIXELS // 1_000_000
            self.problem = f"the picture: {width} x {height} pixels, more than {most} megapixels"
            return None
        brightest, most = None, -1.0
        for frame in self._candidates():
            if (light := float(frame.mean())) > most:
                brightest, most = frame, light
            if most > _BLACK:
                break
        return None if brightest is None else self._image(brightest, limits.THUMBNAIL_PIXELS)

    def strip(self) -> list[Image.Image]:
        """Return frames of the film from its beginning to its end."""
        return [self._image(frame, limits.TURNTABLE_PIXELS) for frame in self._over_film()]

    def _candidates(self) -> Iterator[Any]:
        for _ in range(_FIRST):
            is_read, frame = self._capture.read()
            if not is_read or time.process_time() > self._ends:
                break
            yield frame
        yield from self._over_film()

    def _over_film(self) -> Iterator[Any]:
        longest = 0.0
        for number in range(_STRIP):
            # A place is reached from the key frame before it, which may be the first of the film:
            # then each place takes as much longer as the second one took.
            started = time.process_time()
            if started + 2 * longest > self._ends:
                return
            milliseconds = 1000 * self.seconds * number / _STRIP
            self._capture.set(self._cv2.CAP_PROP_POS_MSEC, milliseconds)
            is_read, frame = self._capture.read()
            if is_read:
                yield frame
            longest = max(longest, time.process_time() - started)

    def _image(self, frame: Any, edge: int) -> Image.Image:
        image = Image.fromarray(np.ascontiguousarray(frame[..., ::-1]))
        scale = edge / max(image.width * self._ratio, image.height)
        sides = (image.width * self._ratio * scale, image.height * scale)
        return image.resize((max(1, round(sides[0])), max(1, round(sides[1]))))


class _KeyFrames(_Frames):
    """The key frames of a film in AV1, of which OpenCV only finds the packets."""

    _packets: Sequence[bytes] = ()

    def _candidates(self) -> Iterator[Any]:
        packets, every, number = list[bytes](), 1, 0
        self._capture.set(self._cv2.CAP_PROP_FORMAT, -1)
        while time.process_time() < self._ends:
            is_read, packet = self._capture.read()
            if not is_read:
                break
            content = packet.tobytes()
            if is_key(content):
                if number % every == 0:
                    packets.append(content)
                number += 1
            if len(packets) == 2 * _STRIP:
                packets, every = packets[::2], every * 2
        self._packets = packets
        yield from self._decoded(packets)

    def _over_film(self) -> Iterator[Any]:
        count = len(self._packets)
        chosen = dict.fromkeys(number * count // _STRIP for number in range(_STRIP))
        yield from self._decoded([self._packets[number] for number in chosen if count])

    def _decoded(self, packets: Sequence[bytes]) -> Iterator[Any]:
        cv2, capture = self._cv2, self._capture
        place = int(capture.get(cv2.CAP_PROP_CODEC_EXTRADATA_INDEX))
        has_configuration, configuration = capture.retrieve(flag=place)
        sides = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
        width, height = (int(capture.get(side)) for side in sides)
        for packet in packets if has_configuration else ():
            if time.process_time() > self._ends:
                return
            try:
                picture = decode_key(packet, configuration.tobytes(), width, height)
            except RefusedError:
                continue
            yield np.asarray(picture)[..., ::-1]


def _read_sound(modules: Any, data: bytes, codec: str) -> _Sound:
    """Read the loudness up to the end of the file, or up to what cannot be decoded."""
    ends = time.process_time() + limits.cpu_seconds_for(len(data)) * _SHARE
    peaks, count = list[Floats](), 0
    try:
        with modules.soundfile.SoundFile(io.BytesIO(data)) as sound:
            step = 1 if sound.frames < _BLOCK else _STEP
            block = np.empty((_BLOCK // sound.channels // _STEP * _STEP, sound.channels), "f4")
            for read in _blocks(modules, sound, block):
                loud: Floats = np.abs(np.nan_to_num(read)).max(axis=1)
                peaks.append(np.maximum.reduceat(loud, np.arange(0, len(loud), step)))
                count += len(loud)
                if time.process_time() > ends:
                    return _Sound(problems=("the waveform: it takes too long to decode",))
            # Without a length, as a pipe writes it, FLAC has the largest number.
            declared = 1 if sound.frames > _MOST_SAMPLES else sound.frames
            # That of MP3 may be an estimate.
            is_truncated = count < declared and sound.format != "MP3"
            seconds = count / sound.samplerate
    except (RuntimeError, ValueError, TypeError) as error:
        is_known = getattr(error, "code", _UNKNOWN[0]) not in _UNKNOWN
        why = "the sound is damaged or truncated" if is_known else f"{codec} is not decoded"
        return _Sound(problems=(f"the waveform: {why}",))
    return _Sound(np.concatenate(peaks) if peaks else None, seconds, is_truncated)


def _blocks(modules: Any, sound: Any, block: Any) -> Iterator[Any]:
    """Read block by block; the last one has what was read before an error."""
    while True:
        block.fill(np.nan)
        try:
            read = sound.read(out=block)
        except modules.soundfile.LibsndfileError:
            empty = np.isnan(block[:, 0])
            read = block[: int(empty.argmax()) if empty.any() else len(block)]
            if len(read):
                yield read
            return
        if not len(read):
            return
        yield read
