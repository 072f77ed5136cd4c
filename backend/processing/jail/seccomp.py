"""A filter of system calls for a confined process.

Allowed are memory, time, and the files and the socket that it has open already. Every other call
fails with EPERM: opening files, sockets, other processes.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping

# Numbers of system calls by machine: arch/x86/entry/syscalls, include/uapi/asm-generic.
_ALLOWED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "read": 0,
        "write": 1,
        "close": 3,
        "fstat": 5,
        "poll": 7,
        "lseek": 8,
        "mmap": 9,
        "mprotect": 10,
        "munmap": 11,
        "brk": 12,
        "rt_sigaction": 13,
        "rt_sigprocmask": 14,
        "rt_sigreturn": 15,
        "ioctl": 16,
        "pread64": 17,
        "pwrite64": 18,
        "readv": 19,
        "writev": 20,
        "sched_yield": 24,
        "mremap": 25,
        "madvise": 28,
        "nanosleep": 35,
        "getpid": 39,
        "sendto": 44,
        "recvfrom": 45,
        "sendmsg": 46,
        "recvmsg": 47,
        "exit": 60,
        "fcntl": 72,
        "ftruncate": 77,
        "getrlimit": 97,
        "getrusage": 98,
        "sysinfo": 99,
        "times": 100,
        "getuid": 102,
        "sigaltstack": 131,
        "gettid": 186,
        "futex": 202,
        "sched_getaffinity": 204,
        "restart_syscall": 219,
        "clock_gettime": 228,
        "clock_nanosleep": 230,
        "exit_group": 231,
        "getrandom": 318,
        "membarrier": 324,
        "rseq": 334,
    },
    "aarch64": {
        "fcntl": 25,
        "ioctl": 29,
        "ftruncate": 46,
        "close": 57,
        "lseek": 62,
        "read": 63,
        "write": 64,
        "readv": 65,
        "writev": 66,
        "pread64": 67,
        "pwrite64": 68,
        "ppoll": 73,
        "fstat": 80,
        "exit": 93,
        "exit_group": 94,
        "futex": 98,
        "nanosleep": 101,
        "clock_gettime": 113,
        "clock_nanosleep": 115,
        "sched_getaffinity": 123,
        "sched_yield": 124,
        "restart_syscall": 128,
        "sigaltstack": 132,
        "rt_sigaction": 134,
        "rt_sigprocmask": 135,
        "rt_sigreturn": 139,
        "times": 153,
        "getrlimit": 163,
        "getrusage": 165,
        "getpid": 172,
        "getuid": 174,
        "gettid": 178,
        "sysinfo": 179,
        "sendto": 206,
        "recvfrom": 207,
        "sendmsg": 211,
        "recvmsg": 212,
        "brk": 214,
        "munmap": 215,
        "mremap": 216,
        "mmap": 222,
        "mprotect": 226,
        "madvise": 233,
        "getrandom": 278,
        "membarrier": 283,
        "rseq": 293,
    },
}
# The calls of a library that works with files of a folder.
_FILES: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "open": 2,
        "stat": 4,
        "lstat": 6,
        "access": 21,
        "fsync": 74,
        "getcwd": 79,
        "rename": 82,
        "creat": 85,
        "unlink": 87,
        "readlink": 89,
        "statfs": 137,
        "getdents64": 217,
        "openat": 257,
        "newfstatat": 262,
        "unlinkat": 263,
        "readlinkat": 267,
        "faccessat": 269,
        "statx": 332,
        "faccessat2": 439,
    },
    "aarch64": {
        "getcwd": 17,
        "unlinkat": 35,
        "renameat": 38,
        "statfs": 43,
        "faccessat": 48,
        "openat": 56,
        "getdents64": 61,
        "readlinkat": 78,
        "newfstatat": 79,
        "fsync": 82,
        "statx": 291,
        "faccessat2": 439,
    },
}
# Numbers of system calls, as above.
_TGKILL = {"x86_64": 234, "aarch64": 131}
_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
_ROBUST_LIST = {"x86_64": 273, "aarch64": 99}
_CLONE_THREAD = 0x10000  # in include/uapi/linux/sched.h: a thread of this process, not another one
# AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 in include/uapi/linux/audit.h.
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_CALLS = 0x40000000  # on x86_64, higher numbers belong to another calling convention

# BPF_LD | BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JSET and BPF_RET in include/uapi/linux/bpf_common.h, then
# offsets in `struct seccomp_data`, and SECCOMP_RET_ALLOW, _KILL_PROCESS and _ERRNO in
# linux/seccomp.h.
_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
_MISSING = 0x00050000 | errno.ENOSYS
# PR_SET_SECCOMP in linux/prctl.h, and the number of `seccomp` as above.
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_SECCOMP = {"x86_64": 317, "aarch64": 277}
# SECCOMP_SET_MODE_FILTER in include/uapi/linux/seccomp.h.
_SET_MODE_FILTER = 1

_Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def is_supported() -> bool:
    """Return whether the numbers of this machine's system calls are known."""
    return platform.machine() in _ALLOWED


def install(process: int, *, files: bool = False, threads: bool = False) -> str:
    """Confine this process, whose id is `process`, for the rest of its life.

    With `files` it may still open files, with `threads` start threads, but no process. Returns the
    system call that did it: where `prctl` is refused, `seccomp` may be allowed.

    Raises:
        OSError: the kernel refuses the filter.
    """
    packed = b"".join(
        struct.pack("=HBBI", *instruction) for instruction in _instructions(process, files, threads)
    )
    buffer = ctypes.create_string_buffer(packed, len(packed))
    program = _Program(len(packed) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    # Lambda is reported to refuse `prctl`; `seccomp` may be allowed there (decision 49).
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) == 0:
        return "prctl"
    number = _SECCOMP[platform.machine()]
    if libc.syscall(number, _SET_MODE_FILTER, 0, ctypes.byref(program)) == 0:
        return "seccomp"
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _instructions(process: int, files: bool, threads: bool) -> list[_Instruction]:
    machine = platform.machine()
    allowed = sorted(_ALLOWED[machine].values())
    if files:
        allowed += sorted(_FILES[machine].values())
    program: list[_Instruction] = [
        # A process of another architecture has other numbers: the list would allow wrong calls.
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32_CALLS),
        (_RETURN, 0, 0, _FAIL),
        # A process may send signals to itself only: `abort` does.
        (_EQUAL, 0, 4, _TGKILL[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, process),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FAIL),
    ]
    if threads:
        allowed.append(_ROBUST_LIST[machine])
        program += [
            # A filter cannot read the flags of `clone3`, which are in memory. With ENOSYS, as of a
            # kernel without it, the C library uses `clone`.
            (_EQUAL, 0, 1, _CLONE3),
            (_RETURN, 0, 0, _MISSING),
            (_EQUAL, 0, 4, _CLONE[machine]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_HAS, 0, 1, _CLONE_THREAD),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _FAIL),
        ]
    for call in allowed:
        program += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, _ALLOW)]
    return [*program, (_RETURN, 0, 0, _FAIL)]
