"""Where a path really leads: symlinks, ``..`` and /proc's magic links followed inside the sandbox's root.

Looked up beside the kernel, a moment before it does the same: recorded, never enforced on. Opening with
O_PATH touches neither devices nor pipes, and RESOLVE_IN_ROOT keeps every link inside the sandbox.
Standard library only; openat2 is Linux 5.6.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import struct
from collections.abc import Callable

from .target import UnreadableError

_OPENAT2 = 437  # same number on every architecture
_RESOLVE_IN_ROOT, _RESOLVE_NO_SYMLINKS = 0x10, 0x04
_O_PATH = 0o10000000
_HOPS = 41
"""More links than the kernel follows in one path (MAXSYMLINKS)."""
_KNOWN = 4096
_LONGEST = 4096
"""Bytes with the NUL (PATH_MAX). A relative path in a deep folder may be longer as we write it."""
_LONG_WAY = re.compile(rb"//|/\.\.?(?:/|\Z)|/\Z|\A/proc/|\A/dev/fd/")
_NOTHING = re.compile(rb"/(?:\.?/)+")
_FIXED = (b"/usr/", b"/lib", b"/etc/", b"/bin/", b"/sbin/", b"/sys/", b"/opt/")
"""Read-only in every sandbox of ours: the code can plant no link there (our own links are no secret)."""
_MAGIC = re.compile(
    rb"/+proc/+(self|thread-self|[0-9]+)(?:/+task/+([0-9]+))?/+(root|cwd|exe|fd/+[0-9]+)(/.*)?\Z", re.DOTALL
)
_DEVICE_FD = re.compile(rb"/+dev/+fd/+(?=[0-9])")


class Links:
    """Resolver for one sandbox. ``host_pid`` maps a pid as the code sees it to ours, or None; ``remembered``
    tells of a thread that is gone what its ``exe`` or ``cwd`` led to (empty: nobody knows).
    """

    def __init__(
        self,
        host_pid: Callable[[int], int | None],
        reshaping: frozenset[int] = frozenset(),
        remembered: Callable[[int, bytes], bytes] = lambda _tid, _what: b"",
    ) -> None:
        self._host_pid = host_pid
        self._remembered = remembered
        self._reshaping = reshaping
        self.under_way: dict[int, int] = {}
        """Thread -> process of calls that may plant a link and are not known to have ended: the kernel
        carries them out after our answer, when others' opens may have been looked at already. Nothing is kept
        while there are any."""
        self._root = -1
        self._mounts = -1
        """Held open: else the root loses what is mounted below it with the last process, and lines that
        strace printed shortly before could not be looked up any more."""
        self._known: dict[tuple[bytes, bool], bytes | None] = {}
        self._openat2 = ctypes.CDLL(None, use_errno=True).syscall
        follow = os.O_CLOEXEC | _O_PATH
        self._follow = struct.pack("<QQQ", follow, 0, _RESOLVE_IN_ROOT)
        self._no_links = struct.pack("<QQQ", follow, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_SYMLINKS)
        self._stay = struct.pack("<QQQ", follow | os.O_NOFOLLOW, 0, _RESOLVE_IN_ROOT)

    def real(self, tid: int, path: bytes, *, follow: bool = True) -> bytes | None:
        """The path without links; None where it is the same or cannot be told. Raises UnreadableError."""
        if path.startswith(_FIXED) and b"/.." not in path:
            return None
        asked = path
        if len(path) >= _LONGEST:
            path = _NOTHING.sub(b"/", path)
            if len(path) >= _LONGEST:
                raise UnreadableError("too long to be looked up")
        if self._root < 0:
            try:  # one root for all: chroot, pivot_root and unshare are refused
                self._root = os.open(f"/proc/{tid}/root", _O_PATH | os.O_CLOEXEC)
            except OSError:
                plain = self._without_magic(tid, path)
                return None if plain == asked else plain
            with contextlib.suppress(OSError):  # without it all but the last lines can be looked up
                self._mounts = os.open(f"/proc/{tid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        key = (path, follow)
        settled = self._settled()
        if settled and key in self._known:
            return self._known[key]
        plain = self._without_magic(tid, path)
        if plain.startswith(b"/proc/") and b"/.." not in plain:  # its "self" would be us
            return None if plain == asked else plain
        led, same = self._resolve(tid, plain, follow=follow)
        found = led or plain
        real = None if found == asked or not found.startswith(b"/") else found
        if settled and same and plain == path and not path.startswith(b"/proc"):
            self._keep(key, real)
        return real

    def plain(self, path: bytes) -> bool:
        """True when following links from here changes nothing: known, or one question says so."""
        if path.startswith(_FIXED) and b"/.." not in path:
            return True
        if self.under_way and not self._settled():
            return False
        known = self._known.get((path, True), path)
        if known is not path:
            return known is None
        return self._root >= 0 and self._direct(path)

    def _direct(self, path: bytes) -> bool:
        """No link on the way, and written as the kernel writes it."""
        if _LONG_WAY.search(path) or len(path) >= _LONGEST:
            return False
        fd = self._openat2(_OPENAT2, self._root, path, self._no_links, len(self._no_links))
        if fd < 0:
            return False
        os.close(fd)
        self._keep((path, True), None)
        return True

    def _keep(self, key: tuple[bytes, bool], real: bytes | None) -> None:
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[key] = real

    def forget(self) -> None:
        """The file tree has changed: what is known of links may be wrong from here on."""
        self._known.clear()

    def changes(self, tid: int, pid: int) -> None:
        """The file tree is about to be changed by this thread."""
        self.forget()
        self.under_way[tid] = pid

    def ended(self, pid: int) -> None:
        """The process is gone, or has become another program: none of its other threads is left."""
        for tid in [tid for tid, of in self.under_way.items() if of == pid]:
            del self.under_way[tid]

    def _settled(self) -> bool:
        """Has every change ended? Whoever makes another call has (the supervisor tells); else the kernel says
        in which call a thread waits.
        """
        for tid in list(self.under_way):
            try:
                with open(f"/proc/{tid}/syscall", "rb") as said:
                    number = said.read(16).split()[0]
            except (OSError, IndexError):
                return False
            if not number.isdigit() or int(number) in self._reshaping:
                return False
            del self.under_way[tid]
        return True

    def _resolve(self, tid: int, plain: bytes, *, follow: bool) -> tuple[bytes | None, bool]:
        """Where it leads, and whether it does so for everybody, until the file tree changes."""
        how = self._follow if follow else self._stay
        start = plain
        for _ in range(_HOPS):
            found = self._look(plain, how)
            if found is not None:
                return found, plain == start
            folder, _, name = plain.rpartition(b"/")
            base = self._look(folder or b"/", self._follow) if name not in (b"", b".", b"..") else None
            if base is not None and self._look(plain, self._stay) is None:
                return base.rstrip(b"/") + b"/" + name, plain == start  # not there yet: its folder is
            further = self._without_magic(tid, self._one_hop(plain))  # a link into /proc's magic ones
            if further == plain:
                break
            plain = further
        return None, plain == start

    def _look(self, path: bytes, how: bytes) -> bytes | None:
        fd = self._openat2(_OPENAT2, self._root, path, how, len(how))
        if fd < 0:
            return None
        try:
            return os.readlink(b"/proc/self/fd/%d" % fd)
        except OSError:
            return None
        finally:
            os.close(fd)

    def _one_hop(self, path: bytes) -> bytes:
        """The path with its first symlink replaced by what that says."""
        parts = [part for part in path.split(b"/") if part]
        for count in range(1, len(parts) + 1):
            prefix = b"/" + b"/".join(parts[:count])
            fd = self._openat2(_OPENAT2, self._root, prefix, self._stay, len(self._stay))
            if fd < 0:
                break
            try:
                target = os.readlink(b"", dir_fd=fd)
            except OSError:
                continue  # no link
            finally:
                os.close(fd)
            base = target if target.startswith(b"/") else prefix.rpartition(b"/")[0] + b"/" + target
            return b"/".join((base, *parts[count:]))
        return path

    def _without_magic(self, tid: int, path: bytes) -> bytes:
        """``/proc/self/root/x`` is ``/x``; the resolver itself may not follow those."""
        for _ in range(_HOPS):
            path = _DEVICE_FD.sub(b"/proc/self/fd/", path, count=1)
            match = _MAGIC.match(path)
            if match is None:
                break
            who, thread, what, rest = match.groups()
            target = self._target(tid, thread or who, what)
            if target is None:
                break
            path = target.rstrip(b"/") + (rest or b"") or b"/"
        return path

    def _target(self, tid: int, who: bytes, what: bytes) -> bytes | None:
        if what == b"root":
            return b"/"
        pid = self._host_pid(int(who)) if who.isdigit() else tid
        # a thread, or a process that made no call yet: as the sandbox's own /proc has it
        place = b"/proc/%d" % pid if pid is not None else b"/proc/%d/root/proc/%s" % (tid, who)
        try:
            target = os.readlink(place + b"/" + what)
        except OSError:  # a tracer that reads behind the code hears of calls of those that are gone
            target = self._remembered(pid, what) if pid is not None else b""
        return target if target.startswith(b"/") else None
