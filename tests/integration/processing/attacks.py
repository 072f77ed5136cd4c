"""Attacks of hostile code from inside a reader. Run as `python -m ... victim`, for `test_jail`.

The victim has a secret in its environment and its memory, and listens on a port. It starts the
attacker, which prints the successful attacks as JSON.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from backend.processing.jail.confinement import Bounds, confine, hide_memory
from local import box

SECRET = "the-secret-of-the-victim"
_LAYERS = ("none", "hidden", "jail", "boxed", "folder", "threads")


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def victim(layer: str) -> None:
    """Start the attacker with one layer of protection and print its output."""
    assert layer in _LAYERS
    secret = ctypes.create_string_buffer(SECRET.encode())
    if layer == "boxed":
        box.enter("lambda")
    if layer != "none":
        hide_memory()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        address = ctypes.addressof(secret)
        arguments = [sys.executable, "-m", __spec__.name, "attacker", layer, str(address)]
        subprocess.run([*arguments, str(port)], check=True, timeout=60)


def attacker(layer: str, address: str, port: str) -> None:
    """Try every attack on the parent process."""
    parent = os.getppid()
    if layer == "hidden":  # the behaviour of the jail if the kernel has no filters of system calls
        libc = ctypes.CDLL(None)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        assert libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())) == 0
    folder = Path(tempfile.mkdtemp())
    if layer in {"jail", "boxed"}:
        confine(Bounds())
    if layer == "threads":  # of readers whose library starts them
        confine(Bounds(), threads=True)
        threading.Thread(target=int).start()
    if layer == "folder":  # of readers that use a folder
        confine(Bounds(), folder)
    attacks: dict[str, Callable[[], bool]] = {
        "environment": lambda: SECRET in Path(f"/proc/{parent}/environ").read_text(),
        "memory": lambda: SECRET.encode() in _memory(parent, int(address)),
        "memory by a call": lambda: SECRET.encode() in _vectors(parent, int(address)),
        "read a file": lambda: bool(Path("/etc/passwd").read_text()),
        "write a file": _write,
        "connect": lambda: _connect(int(port)),
        "signal": lambda: os.kill(parent, 0) is None,
        "start a process": lambda: subprocess.run(["true"], check=False).returncode == 0,
        "fork": _fork,
    }
    result = {name: _succeeds(attack) for name, attack in attacks.items()}
    sys.stdout.write(json.dumps(result))


def _succeeds(attack: Callable[[], bool]) -> bool:
    try:
        return attack()
    except OSError:
        return False


def _memory(process: int, address: int) -> bytes:
    descriptor = os.open(f"/proc/{process}/mem", os.O_RDONLY)
    return os.pread(descriptor, len(SECRET), address)


def _vectors(process: int, address: int) -> bytes:
    buffer = ctypes.create_string_buffer(len(SECRET))
    local = _Vector(ctypes.addressof(buffer), len(SECRET))
    remote = _Vector(address, len(SECRET))
    libc = ctypes.CDLL(None)
    libc.process_vm_readv(process, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return buffer.raw


def _write() -> bool:
    path = Path(tempfile.gettempdir()) / f"attack-{os.getpid()}"
    path.write_text("written")
    path.unlink()
    return True


def _connect(port: int) -> bool:
    with socket.socket() as connected:
        connected.settimeout(5)
        connected.connect(("127.0.0.1", port))
    return True


def _fork() -> bool:
    process = os.fork()
    if process == 0:
        os._exit(0)
    return True  # not awaited: the filter refuses that as well


if __name__ == "__main__":
    {"victim": victim, "attacker": attacker}[sys.argv[1]](*sys.argv[2:])
