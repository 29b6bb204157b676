"""Program text for sandboxes: raw system calls by number (x86-64), machine code, and all that is refused."""

from __future__ import annotations

RAW = """
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    args = [a if isinstance(a, bytes) else ctypes.c_long(a) for a in args]
    done = libc.syscall(ctypes.c_long(number), *args)
    return done if done >= 0 else -ctypes.get_errno()
def at(data):  # bytes whose address we need
    buffer = ctypes.create_string_buffer(data, len(data))
    call.keep = getattr(call, "keep", []) + [buffer]
    return ctypes.addressof(buffer)
os.mkdir("/tmp/d"); os.chdir("/tmp/d")
"""

MACHINE_CODE = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
def run(code):
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(code)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(at)()
"""

REFUSED = {
    "ptrace": "101, 0, 0, 0, 0",
    "process_vm_readv": "310, os.getppid(), 0, 0, 0, 0, 0",
    "process_vm_writev": "311, os.getppid(), 0, 0, 0, 0, 0",
    "pidfd_getfd": "438, 0, 0, 0",
    "mount": '165, b"none", b"/tmp", b"tmpfs", 0, 0',
    "umount2": '166, b"/proc", 0',
    "pivot_root": '155, b"/tmp", b"/tmp"',
    "chroot": '161, b"/tmp"',
    "move_mount": "429, 0, 0, 0, 0, 0",
    "open_tree": '428, -100, b"/", 0',
    "fsopen": '430, b"tmpfs", 0',
    "fsconfig": "431, 0, 0, 0, 0, 0",
    "fsmount": "432, 0, 0, 0",
    "fspick": '433, -100, b"/", 0',
    "mount_setattr": '442, -100, b"/", 0, 0, 0',
    "setns": "308, 0, 0",
    "unshare": "272, 0x10000000",
    "clone": "56, 0x10000011, 0, 0, 0, 0",
    "bpf": "321, 0, 0, 0",
    "perf_event_open": "298, 0, 0, 0, 0, 0",
    "userfaultfd": "323, 0",
    "io_uring_setup": "425, 8, at(bytes(120))",
    "io_uring_enter": "426, 0, 0, 0, 0, 0, 0",
    "io_uring_register": "427, 0, 0, 0, 0",
    "keyctl": "250, 0, 0, 0, 0, 0",
    "add_key": '248, b"user", b"k", b"v", 1, -3',
    "request_key": '249, b"user", b"k", 0, -3',
    "personality": "135, 0x40000",
    "init_module": '175, 0, 0, b""',
    "finit_module": '313, 0, b"", 0',
    "delete_module": '176, b"x", 0',
    "kexec_load": "246, 0, 0, 0, 0",
    "kexec_file_load": "320, 0, 0, 0, 0, 0",
    "settimeofday": "164, at(bytes(16)), 0",
    "clock_settime": "227, 0, at(bytes(16))",
    "clock_adjtime": "305, 0, at(bytes(256))",
    "adjtimex": "159, at(bytes(256))",
    "reboot": "169, 0, 0, 0, 0",
    "swapon": '167, b"/tmp/x", 0',
    "acct": '163, b"/tmp/x"',
    "quotactl": "179, 0, 0, 0, 0",
    "syslog": "103, 3, at(bytes(64)), 64",
    "sethostname": '170, b"x", 1',
    "setdomainname": '171, b"x", 1',
    "iopl": "172, 3",
    "ioperm": "173, 0, 1, 1",
    "modify_ldt": "154, 0, 0, 0",
    "open_by_handle_at": "304, -100, at(bytes(64)), 0",
    "name_to_handle_at": '303, -100, b"/etc", at(bytes(64)), at(bytes(8)), 0',
    "fanotify_init": "300, 0, 0",
    "kcmp": "312, 1, 2, 0, 0, 0",
    "vhangup": "153",
    "memfd_secret": "447, 0",
}


def all_refused() -> str:
    """A program that tries every refused call and prints ``name answer`` a line (negative: errno)."""
    lines = "".join(f"print({name!r}, call({args}))\n" for name, args in REFUSED.items())
    extra = """
print('unknown', call(900)); print('clone3', call(435, at(bytes(88)), 88))
print('query', call(135, 0xffffffff))
allow = at(struct.pack('<HBBI', 6, 0, 0, 0x7fff0000))
print('nested', call(317, 1, 8, at(struct.pack('<HxxxxxxQ', 1, allow))))
"""
    return RAW + lines + extra
