"""Reports what a system allows its processes: system calls, confinement, memory, disk.

Each call is tried in a process that then ends, because some of them cannot be undone.
"""

import ctypes
import errno
import os
import platform
import resource
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from backend.processing.jail.confinement import hide_memory
from backend.processing.jail.means import tested_means

_MACHINES = ("x86_64", "aarch64")
_SHOWN = ("NoNewPrivs", "Seccomp", "Seccomp_filters", "CapEff", "CapBnd", "Uid")
_MIB = 1 << 20
# _LINUX_CAPABILITY_VERSION_3, no capabilities, and SECCOMP_RET_ALLOW.
_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
# Three words of 32 bits for each of the two halves of the capability sets.
_NONE = (ctypes.c_uint32 * 6)()
_ALLOW = ctypes.c_uint32(0x7FFF0000)
_NAME = ctypes.create_string_buffer(b"probe")
# Numbers by machine (x86_64, aarch64), and arguments.
_CALLS: Mapping[str, tuple[tuple[int, int], tuple[int, ...]]] = {
    "prctl PR_GET_DUMPABLE": ((157, 167), (3, 0, 0, 0, 0)),
    "prctl PR_SET_DUMPABLE": ((157, 167), (4, 0, 0, 0, 0)),
    "prctl PR_SET_NO_NEW_PRIVS": ((157, 167), (38, 1, 0, 0, 0)),
    "seccomp SECCOMP_GET_ACTION_AVAIL": ((317, 277), (2, 0, ctypes.addressof(_ALLOW))),
    "capset": ((126, 91), (ctypes.addressof(_HEADER), ctypes.addressof(_NONE))),
    "ptrace PTRACE_TRACEME": ((101, 117), (0, 0, 0, 0)),
    "unshare CLONE_NEWUSER": ((272, 97), (0x10000000,)),
    "landlock_create_ruleset": ((444, 444), (0, 0, 1)),
    "memfd_create": ((319, 279), (ctypes.addressof(_NAME), 0)),
    "io_uring_setup": ((425, 425), (0, 0)),
}


def survey() -> dict[str, Any]:
    """Return what this system allows. A call has its error, or `ok`."""
    folder = Path(tempfile.gettempdir())
    disk = shutil.disk_usage(folder)
    return {
        "kernel": " ".join(os.uname()[:3:2]),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "calls": _calls(),
        "status": _lines("/proc/self/status", _SHOWN),
        "confinement": {"alone": tested_means(None), "inFolder": tested_means(folder)},
        "hiddenMemory": _in_child(lambda: hide_memory() or "ok"),
        "memory": _lines("/proc/meminfo", ("MemTotal", "MemAvailable")),
        "cpus": os.cpu_count(),
        "addressSpace": resource.getrlimit(resource.RLIMIT_AS)[1],
        "diskMiB": {"folder": str(folder), "free": disk.free // _MIB, "total": disk.total // _MIB},
    }


def _calls() -> dict[str, str]:
    machine = platform.machine()
    if machine not in _MACHINES:
        return {}
    place = _MACHINES.index(machine)
    return {
        name: _in_child(lambda n=numbers[place], a=arguments: _call(n, a))
        for name, (numbers, arguments) in _CALLS.items()
    }


def _call(number: int, arguments: tuple[int, ...]) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *map(ctypes.c_long, arguments)) >= 0:
        return "ok"
    return errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))


def _in_child(call: Callable[[], str]) -> str:
    """Return the result of a call in a process of its own."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writing, call().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        answer = file.read().decode()
    _, status = os.waitpid(process, 0)
    return answer or f"the process ended with {os.waitstatus_to_exitcode(status)}"


def _lines(path: str, names: tuple[str, ...]) -> dict[str, str]:
    text = Path(path).read_text(encoding="ascii", errors="replace")
    pairs = (line.partition(":")[::2] for line in text.splitlines())
    return {name: " ".join(value.split()) for name, value in pairs if name in names}
