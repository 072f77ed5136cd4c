"""A process with all libraries loaded, from which a child is forked for each file.

Loading takes longer than reading most files. This process has an empty environment and reads no
file of users, so that its children inherit nothing worth reading.
"""

import os
import socket
import sys
from importlib import import_module
from importlib.util import find_spec

from backend.processing.files import NoFiles
from backend.processing.inspection import inspect
from backend.processing.jail import child
from backend.processing.jail.channel import ChannelError, close_all, receive, send
from backend.processing.readers import assimp, ifc, media, svg, usd
from backend.processing.texts import CODE_PAGES

# Modules that libraries import at their first use only.
_LATE_MODULES = (
    *(f"encodings.{name}" for name in CODE_PAGES),
    *("encodings.idna", "encodings.utf_16"),
    *("encodings.utf_16_be", "encodings.utf_16_le", "encodings.utf_32", "numpy.ma"),
)
_LIBRARIES = {
    "assimp_py": assimp.library,
    "cv2": media.library,
    "ifcopenshell": ifc.library,
    "pxr": usd.library,
    "resvg_py": svg.library,
}
_TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def main(descriptor: int) -> None:
    """Fork a child for each message, until the parent closes the channel."""
    # Load everything that an inspection uses, including modules that are imported at first use.
    from PIL import Image  # noqa: PLC0415 - this process is slow to start already

    for name in _LATE_MODULES:
        import_module(name)
    Image.init()
    for name, library in _LIBRARIES.items():
        if find_spec(name):  # each function has those of its formats
            library()
    inspect("triangle.obj", _TRIANGLE, NoFiles())
    control = socket.socket(fileno=descriptor)
    send(control, {"ready": True})
    while True:
        try:
            _, descriptors = receive(control)
        except ChannelError:
            return
        _serve(control, descriptors)


def _serve(control: socket.socket, descriptors: list[int]) -> None:
    # A fork has all libraries in memory already; a new process would need 0.6 s to load them.
    process = os.fork()
    if process == 0:
        _run_child(control, descriptors)
    close_all(descriptors)
    send(control, {"process": process})
    # Its own usage, not the sum over all children: it decides whether a limit was exceeded.
    _, status, usage = os.wait4(process, 0)
    seconds = usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    send(control, {"status": status, "cpuSeconds": seconds, "peakBytes": peak})


def _run_child(control: socket.socket, descriptors: list[int]) -> None:
    """Run a child.

    Never returns: an error of the child must not continue in the template's code.
    """
    status = 1
    try:
        control.close()
        child.run(socket.socket(fileno=descriptors[0]))
        status = 0
    finally:
        os._exit(status)
