"""Takes system calls from a process that no reader of documents needs, for good.

Linux filters them by a small program (seccomp): numbers of calls and plain arguments are compared, nothing else is
seen. Calls are numbered apart on each processor; what is not in the table of one does not exist there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import Final

_LOAD, _EQUAL, _AT_LEAST, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000  # with an error's number
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_NUMBER, _PROCESSOR, _FIRST = 0, 4, 16  # where a call's number, processor and first argument are; the next 8 bytes on
_THREAD: Final = 0x10000
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_PROCESSORS: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # and its column in the tables below
_CALLS: Final[dict[str, tuple[int | None, int | None]]] = {
    # Other processes.
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # The network, and the way around it.
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "io_uring_setup": (425, 425),
    # Files.
    "creat": (85, None),
    "truncate": (76, 45),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "link": (86, None),
    "linkat": (265, 37),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "openat2": (437, 437),
    # The rest of the machine.
    "setrlimit": (160, 164),
    "setns": (308, 268),
    "unshare": (272, 97),
    "mount": (165, 40),
    "bpf": (321, 280),
}

_THREADS, _OPENS, _OPENS_AT, _SIGNALS, _LIMITS = (56, 220), (2, None), (257, 56), (234, 131), (302, 261)
_NEWER_THREADS: Final = 435  # its arguments can't be seen; where it is unknown, libraries take the older call
_OTHER_NUMBERS: Final = 0x40000000  # x86's second table of the same calls

Program = list[tuple[int, int, int, int]]


def fence() -> bool:
    """Refuse this process, for good, new processes, the network, others' signals, and writing to files.

    Threads that are there keep what they may do: it is called before there are any. Return whether this machine
    can do it; where it can't, the process goes on without.
    """
    found = _PROCESSORS.get(platform.machine())
    if sys.platform != "linux" or found is None:
        return False
    program = _program(*found)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    form = struct.pack("HP", len(program), ctypes.addressof(code))
    call = ctypes.CDLL(None, use_errno=True).prctl
    if call(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(call(_SECCOMP, _FILTER, ctypes.c_char_p(form), 0, 0) == 0)


def _program(processor: int, column: int) -> Program:
    program: Program = [
        (_LOAD, 0, 0, _PROCESSOR),
        *_when(_EQUAL, processor, otherwise=[_refused(errno.EPERM)]),
        (_LOAD, 0, 0, _NUMBER),
        *_when(_AT_LEAST, _OTHER_NUMBERS, then=[_refused(errno.EPERM)]),
        *_when(_EQUAL, _NEWER_THREADS, then=[_refused(errno.ENOSYS)]),
    ]
    for numbers in _CALLS.values():
        program += _call(numbers[column], [_refused(errno.EPERM)])
    allowed, refused = [(_RETURN, 0, 0, _ALLOW)], [_refused(errno.EPERM)]
    program += _call(_THREADS[column], _argument(0, _when(_SET, _THREAD, then=allowed, otherwise=refused)))
    program += _call(_OPENS[column], _argument(1, _when(_SET, _WRITES, then=refused, otherwise=allowed)))
    program += _call(_OPENS_AT[column], _argument(2, _when(_SET, _WRITES, then=refused, otherwise=allowed)))
    program += _call(_SIGNALS[column], _argument(0, _when(_EQUAL, os.getpid(), then=allowed, otherwise=refused)))
    program += _call(_LIMITS[column], _argument(2, _when(_EQUAL, 0, then=allowed, otherwise=refused)))
    return [*program, *allowed]


def _call(number: int | None, then: Program) -> Program:
    """What is done about one call; `then` ends with what is returned."""
    return [] if number is None else _when(_EQUAL, number, then=then)


def _argument(place: int, then: Program) -> Program:
    """Look at the lower half of an argument; nothing that is compared here needs the upper."""
    return [(_LOAD, 0, 0, _FIRST + 8 * place), *then]


def _when(test: int, value: int, *, then: Program | None = None, otherwise: Program | None = None) -> Program:
    """Two branches, at least one of them ending the program; a missing one goes on behind the other."""
    yes, no = then or [], otherwise or []
    return [(test, 0, len(yes), value), *yes, *no] if yes else [(test, len(no), 0, value), *no]


def _refused(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _REFUSE | number)
