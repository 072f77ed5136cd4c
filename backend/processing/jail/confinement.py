"""Removes the permissions of a process before it reads an untrusted file."""

import ctypes
import os
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backend.processing import limits
from backend.processing.jail import landlock, seccomp

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True)
class Bounds:
    """The resources of one child. The parent raises its processor time with the files it opens."""

    memory_bytes: int = limits.CHILD_MEMORY_BYTES
    address_bytes: int = limits.CHILD_ADDRESS_BYTES
    cpu_seconds: int = limits.CHILD_CPU_SECONDS
    output_bytes: int = limits.GLB_BYTES + limits.MIB


def confine(bounds: Bounds, folder: Path | None = None) -> None:
    """Limit this process and remove its permissions, for the rest of its life.

    With `folder` it may still open files: those of the folder where the kernel has Landlock, else
    those of its user. Outside Linux only the resources are limited.

    Raises:
        OSError: the kernel refuses a part of it; the process must not continue.
    """
    _limit(bounds)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        _drop_capabilities(libc)
        _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        if not seccomp.is_supported():
            raise OSError("system calls of this machine are not known")
        if folder is not None and landlock.version() > 0:
            landlock.restrict_to(folder)
        seccomp.install(os.getpid(), files=folder is not None)


def hide_memory() -> None:
    """Keep other processes of the same user from this process's memory and environment.

    Otherwise they could read both in `/proc`, which only Linux has.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        _check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def _limit(bounds: Bounds) -> None:
    wanted = {
        resource.RLIMIT_AS: bounds.address_bytes,
        resource.RLIMIT_DATA: bounds.memory_bytes,
        resource.RLIMIT_CPU: bounds.cpu_seconds,
        resource.RLIMIT_FSIZE: bounds.output_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        _, most = resource.getrlimit(kind)
        bounded = value if most == resource.RLIM_INFINITY else min(value, most)
        # The parent can raise the processor time, but not above this hard limit.
        hard = limits.CHILD_CPU_SECONDS if kind == resource.RLIMIT_CPU else bounded
        hard = hard if most == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(kind, (bounded, max(hard, bounded)))


def raise_cpu_seconds(process: int, seconds: int) -> None:
    """Raise the processor time of a child, which has opened another file.

    Where the kernel refuses that, the child keeps what it has.
    """
    if sys.platform == "linux":
        with suppress(ProcessLookupError, PermissionError):
            _, most = resource.prlimit(process, resource.RLIMIT_CPU)
            bounded = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
            resource.prlimit(process, resource.RLIMIT_CPU, (bounded, most))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Drop capabilities: root of a container could otherwise read the memory of every process."""
    header = _CapabilityHeader(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(libc.capset(ctypes.byref(header), ctypes.byref(nothing)))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
