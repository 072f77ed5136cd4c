"""A box that refuses system calls, as AWS Lambda is reported to do, for tests of the product in it.

A process enters the box for the rest of its life, with all processes that it starts. Refused calls
fail with EPERM. If the kernel has Landlock, files outside `/tmp` cannot be written either. AWS does
not document which calls it limits, so the box does not prove what Lambda allows. This module uses
only the standard library, because it runs in the processes of functions.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

# Numbers by machine (x86_64, aarch64): arch/x86/entry/syscalls, include/uapi/asm-generic.
_MACHINES = ("x86_64", "aarch64")
_CALLS: Mapping[str, tuple[int, int]] = {
    "prctl": (157, 167),
    "capset": (126, 91),
    "ptrace": (101, 117),
    "unshare": (272, 97),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
}
_LAMBDA = tuple(name for name in _CALLS if name != "seccomp")
# The system calls that each box denies. In the second box a process cannot confine itself.
BOXES: Mapping[str, tuple[str, ...]] = {"lambda": _LAMBDA, "lambda-strict": tuple(_CALLS)}

# AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 in include/uapi/linux/audit.h.
_ARCHITECTURES = (0xC000003E, 0xC00000B7)
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCH = 0, 4
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2
# _LINUX_CAPABILITY_VERSION_3 in include/uapi/linux/capability.h.
_CAPABILITY_VERSION = 0x20080522

_RULESET_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
# the rights to remove and to create files of any kind
_CHANGES = _WRITE_FILE | sum(1 << right for right in range(4, 13))
# LANDLOCK_ACCESS_FS_REFER in include/uapi/linux/landlock.h.
_REFER = 1 << 13
# Access rights by the Landlock ABI version that introduced them: an older kernel refuses rules with
# rights that it does not know.
_SINCE = {_REFER: 2, _TRUNCATE: 3}


def is_possible() -> bool:
    """Return whether this machine can refuse system calls."""
    return sys.platform == "linux" and platform.machine() in _MACHINES


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def enter(name: str, *, writable: Iterable[Path] = ()) -> None:
    """Enter the box of this name; `writable` are files outside `/tmp` that may be appended to.

    Raises:
        OSError: the kernel refuses; the process must not continue as if it were in the box.
    """
    if not is_possible():
        raise OSError(errno.ENOSYS, "boxes are for Linux on x86_64 and aarch64")
    libc = ctypes.CDLL(None, use_errno=True)
    # Processes of Lambda have no capabilities; root on this machine has all of them.
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())), "capset")
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _write_only_below(libc, (Path("/tmp"), Path("/dev/null"), *writable))
    _refuse(libc, BOXES[name])


def _refuse(libc: ctypes.CDLL, names: Iterable[str]) -> None:
    machine = _MACHINES.index(platform.machine())
    program = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for name in names:
        program += [(_EQUAL, 0, 1, _CALLS[name][machine]), (_RETURN, 0, 0, _FAIL)]
    program.append((_RETURN, 0, 0, _ALLOW))
    packed = b"".join(struct.pack("=HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    filtered = _Program(len(program), ctypes.addressof(buffer))
    done = libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(filtered), 0, 0)
    _check(done, "the filter of system calls")


def _write_only_below(libc: ctypes.CDLL, paths: Iterable[Path]) -> None:
    create, add, restrict = (_CALLS[call][0] for call in _CALLS if call.startswith("landlock"))
    version = libc.syscall(create, None, ctypes.c_size_t(0), _RULESET_VERSION)
    if version <= 0:
        return
    rights = _CHANGES | sum(right for right, since in _SINCE.items() if version >= since)
    handled = ctypes.create_string_buffer(struct.pack("=Q", rights), 8)
    rules = libc.syscall(create, handled, ctypes.c_size_t(8), 0)
    _check(rules, "rules of Landlock")
    for path in paths:
        if not path.exists():
            continue
        allowed = rights if path.is_dir() else rights & (_WRITE_FILE | _TRUNCATE)
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, place), 12)
        _check(libc.syscall(add, rules, _PATH_BENEATH, rule, 0), f"a rule of Landlock for {path}")
        os.close(place)
    _check(libc.syscall(restrict, rules, 0), "rules of Landlock")
    os.close(rules)


def _check(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"the kernel refuses {what}")
