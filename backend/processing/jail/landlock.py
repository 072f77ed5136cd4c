"""Access to files of one folder only, where the kernel has Landlock (Linux 5.13)."""

import ctypes
import os
import struct
from pathlib import Path

# The numbers of these system calls are the same on all machines.
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
# LANDLOCK_CREATE_RULESET_VERSION and LANDLOCK_RULE_PATH_BENEATH in linux/landlock.h.
_VERSION_FLAG, _BENEATH_PATH = 1, 1
_RIGHTS_OF_VERSION = {1: 13, 2: 14}  # how many kinds of access a version knows; later ones 15
# Positions of the bits of LANDLOCK_ACCESS_FS_ in that header. A right that the kernel does not know
# would refuse the whole rule, so they are cut to its version.
_WRITE, _READ, _LIST, _REMOVE, _CREATE_FILE, _TRUNCATE = 1, 2, 3, 5, 8, 14
_IN_FOLDER = (_WRITE, _READ, _LIST, _REMOVE, _CREATE_FILE, _TRUNCATE)


def version() -> int:
    """Return the version of Landlock, 0 if the kernel has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG), 0)


def restrict_to(folder: Path) -> None:
    """Let this process open files of one folder only, for the rest of its life.

    Files that it has open stay open.

    Raises:
        OSError: the kernel refuses it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    # What is handled and not allowed is denied: so all rights that this kernel knows are handled.
    known = (1 << _RIGHTS_OF_VERSION.get(version(), 15)) - 1
    allowed = sum(1 << right for right in _IN_FOLDER) & known
    handled = ctypes.create_string_buffer(struct.pack("=Q", known), 8)
    rules = _require_success(libc.syscall(_CREATE, handled, ctypes.c_size_t(8), 0))
    place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, place), 12)
    _require_success(libc.syscall(_ADD_RULE, rules, _BENEATH_PATH, rule, 0))
    _require_success(libc.syscall(_RESTRICT, rules, 0))
    os.close(place)
    os.close(rules)


def _require_success(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses the rules of Landlock")
    return result
