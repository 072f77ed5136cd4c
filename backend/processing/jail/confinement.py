"""Removes the permissions of a process before it reads an untrusted file."""

import ctypes
import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backend.processing import limits
from backend.processing.jail import landlock, seccomp

# In include/uapi/linux/prctl.h.
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
# _LINUX_CAPABILITY_VERSION_3 in include/uapi/linux/capability.h.
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True)
class Bounds:
    """The resources of one child. The parent raises its processor time with the files it opens."""

    memory_bytes: int = limits.CHILD_MEMORY_BYTES
    address_bytes: int = limits.CHILD_ADDRESS_BYTES
    cpu_seconds: int = limits.CHILD_CPU_SECONDS
    # OpenUSD reads copies of its layers, which are files too.
    output_bytes: int = limits.INPUT_BYTES + limits.MIB


@dataclass(frozen=True)
class Means:
    """The confinement of a process by the kernel; the texts are for the log.

    `filtered`: its system calls are filtered. `in_folder`: files outside its folder cannot be
    opened. `unprivileged`: it has no capabilities. `reason` is the kernel's refusal of the filter.
    """

    filtered: bool = False
    in_folder: bool = False
    unprivileged: bool = False
    reason: str = ""
    texts: tuple[str, ...] = ()

    def lacks(self, *, files: bool, hidden: bool) -> str | None:
        """Return why this is not enough for a reader, None if it is.

        A reader that may open `files` reaches those of its user, among them the environment of its
        parent unless that is `hidden` and the reader has no capabilities.
        """
        if not self.filtered:
            return f"{_UNCONFINED}: {self.reason}"
        if files and not self.in_folder and not (hidden and self.unprivileged):
            return f"{_UNCONFINED}: it could read other files and processes of its user"
        return None


_UNCONFINED = "this system cannot confine the process that reads the file"


def confine(bounds: Bounds, folder: Path | None = None, *, threads: bool = False) -> Means:
    """Limit this process and remove its permissions, for the rest of its life, as far as possible.

    With `folder` it may still open files: those of the folder where the kernel has Landlock, else
    those of its user. With `threads` it may start threads, which have the same limits and the same
    filter. Outside Linux only the resources are limited. The process must not read an
    untrusted file if the result `lacks` something.
    """
    _limit(bounds)
    if sys.platform != "linux":
        return Means(filtered=True, in_folder=True, unprivileged=True, texts=("no filter",))
    libc = ctypes.CDLL(None, use_errno=True)
    # The order matters: the kernel installs a filter of a process without capabilities only if new
    # privileges are excluded, and the filter refuses the calls of the other steps.
    unprivileged, capabilities = _drop_capabilities(libc)
    privileges = _attempt(lambda: _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
    if privileges and _status("NoNewPrivs") == 1:
        privileges = "were excluded already"
    in_folder, places = False, "refused, or not in this kernel"
    if folder is not None and (version := landlock.version()):
        refused = _attempt(lambda: landlock.restrict_to(folder))
        in_folder, places = not refused, refused or f"version {version}"
    filtered, how = _filter(files=folder is not None, threads=threads)
    return Means(
        filtered=filtered,
        in_folder=in_folder,
        unprivileged=unprivileged,
        reason="" if filtered else how,
        texts=(
            f"the filter by {how}" if filtered else f"the filter: {how}",
            f"capabilities: {capabilities}",
            f"new privileges: {privileges or 'excluded'}",
            *(() if folder is None else (f"Landlock: {places}",)),
        ),
    )


def hide_memory() -> str:
    """Keep other processes of the same user from this process's memory and environment.

    Otherwise they could read both in `/proc`, which only Linux has. Returns the reason if the
    kernel refuses it, else an empty text.
    """
    if sys.platform != "linux":
        return ""
    libc = ctypes.CDLL(None, use_errno=True)
    return _attempt(lambda: _check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)))


def _filter(*, files: bool, threads: bool) -> tuple[bool, str]:
    if not seccomp.is_supported():
        return False, "system calls of this machine are not known"
    try:
        return True, seccomp.install(os.getpid(), files=files, threads=threads)
    except OSError as error:
        return False, error.strerror or str(error)


def _attempt(call: Callable[[], None]) -> str:
    """Return why the kernel refuses a call, an empty text if it does not."""
    try:
        call()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _status(name: str) -> int:
    """Return a value of this process that the kernel shows, in base 16."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").split("\n"):
        key, _, value = line.partition(":")
        if key == name:
            return int(value, 16)
    return -1


def _limit(bounds: Bounds) -> None:
    wanted = {
        # Address space bounds mappings, data what is allocated: shared libraries count in the first
        # only.
        resource.RLIMIT_AS: bounds.address_bytes,
        resource.RLIMIT_DATA: bounds.memory_bytes,
        resource.RLIMIT_CPU: bounds.cpu_seconds,
        resource.RLIMIT_FSIZE: bounds.output_bytes,
        # A core dump would write the memory to the disk.
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
    """Raise the processor time of a child that has opened another file.

    If the kernel refuses, the child keeps its limit.
    """
    if sys.platform == "linux":
        with suppress(ProcessLookupError, PermissionError):
            _, most = resource.prlimit(process, resource.RLIMIT_CPU)
            bounded = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
            resource.prlimit(process, resource.RLIMIT_CPU, (bounded, most))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def _drop_capabilities(libc: ctypes.CDLL) -> tuple[bool, str]:
    """Drop capabilities.

    Returns whether the process has none now, and a text for the log.
    """
    header = _CapabilityHeader(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    # With them, root of a container could read the memory of every process.
    call = libc.capset
    refused = _attempt(lambda: _check(call(ctypes.byref(header), ctypes.byref(nothing))))
    if not refused:
        return True, "none"
    if _status("CapEff") == _status("CapPrm") == 0:
        return True, "had none"
    return False, refused


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
