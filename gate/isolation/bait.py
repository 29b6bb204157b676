"""What the host puts up for one self-test, so that "cannot be reached" is seen from both ends.

Listeners on its own loopback, on its other addresses and in its abstract socket names; a flag file and
an environment variable with fresh contents. All of it is gone when the block ends.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import selectors
import socket
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass

_NAMESPACES: Final = ("pid", "net", "ipc", "uts", "mnt", "cgroup", "user")
_VARIABLE: Final = "GATE_ISOLATION_SECRET"
_WATCHED: Final = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/modules",
    "/proc/swaps",
    "/etc/passwd",
    "/etc/ld.so.preload",
)


@dataclass(kw_only=True)
class Bait:
    """``calls`` lists who came: each entry is a line of evidence, and a hole."""

    folder: Path
    flag: Path
    content: str
    secret: str
    mark: str
    abstract: str
    port: int
    addresses: tuple[str, ...]
    calls: list[str] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)

    def arguments(self) -> dict[str, object]:
        """What the probe inside is told. The secret goes in reversed: the probe looks for it in /proc."""
        return {
            "flag": str(self.flag),
            "secret": self.secret[::-1],
            "mark": self.mark,
            "abstract": self.abstract,
            "host_port": self.port,
            "host_addresses": list(self.addresses),
            "host_folder": str(self.folder),
            "host_paths": [
                str(path) for path in (self.folder, Path.home(), Path.cwd()) if len(path.parts) > 2
            ],
            "host_names": [
                os.uname().nodename,
                *(part for part in Path.home().parts[1:] if part not in ("home", "root")),
            ],
            "namespaces": {kind: link for kind in _NAMESPACES if (link := _link(kind))},
            "boot_id": _text("/proc/sys/kernel/random/boot_id").strip(),
            "boot_line": _text("/proc/cmdline").strip(),
            "release": platform.release(),
            "security_module": _security_module(),
            "orphan": f"gate-orphan-{self.mark}",
            "daemon": f"gate-daemon-{self.mark}",
            "near_port": 20000 + secrets.randbelow(20000),
        }

    def changes(self) -> list[str]:
        """What is no longer as it was on the host."""
        now = _watched()
        found = [path for path, text in self.before.items() if now.get(path) != text]
        found += [
            f"the folder beside the flag holds {path.name}"
            for path in self.folder.iterdir()
            if path != self.flag
        ]
        if _text(str(self.flag)) != self.content:
            found.append("the flag file")
        return found


@contextlib.contextmanager
def lay() -> Iterator[Bait]:
    """Put it all up."""
    mark, secret = secrets.token_hex(6), secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"gate-flag-{mark}-")))
        flag = folder / f"flag-{mark}"
        content = secrets.token_hex(16)
        flag.write_text(content, encoding="ascii")
        flag.chmod(0o644)
        folder.chmod(0o755)  # whoever could see the host's files must be able to read it
        abstract = f"gate-isolation-{mark}"
        links, port, addresses = _listeners(stack, abstract)
        bait = Bait(
            folder=folder,
            flag=flag,
            content=content,
            secret=secret,
            mark=mark,
            abstract=abstract,
            port=port,
            addresses=addresses,
            before=_watched(),
        )
        over = threading.Event()
        thread = threading.Thread(target=_serve, args=(links, bait.calls, over), name="bait", daemon=True)
        os.environ[_VARIABLE] = secret
        thread.start()
        try:
            yield bait
        finally:
            os.environ.pop(_VARIABLE, None)
            over.set()
            thread.join()


def _listeners(
    stack: contextlib.ExitStack, abstract: str
) -> tuple[list[socket.socket], int, tuple[str, ...]]:
    """TCP on loopback and UDP and TCP on every other IPv4 address, one port for all; one abstract name."""
    links = []
    first = stack.enter_context(socket.socket())
    first.bind(("127.0.0.1", 0))
    port = int(first.getsockname()[1])
    links.append(first)
    name = stack.enter_context(socket.socket(socket.AF_UNIX))
    name.bind("\0" + abstract)
    links.append(name)
    reachable = []
    for address in _addresses():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            link = stack.enter_context(socket.socket(socket.AF_INET, kind))
            with contextlib.suppress(OSError):
                link.bind((address, port))
                links.append(link)
                reachable.append(address)
    for link in links:
        link.setblocking(False)
        if link.type == socket.SOCK_STREAM:
            link.listen()
    return links, port, tuple(dict.fromkeys(reachable))


def _addresses() -> list[str]:
    """IPv4 addresses of this machine beside loopback, from /proc/net/fib_trie."""
    found, last = [], ""
    for line in _text("/proc/net/fib_trie").splitlines():
        words = line.replace("|--", " ").split()
        if "/32" in words and "host" in words and "LOCAL" in words and not last.startswith("127."):
            found.append(last)
        elif words and words[0].count(".") == 3:
            last = words[0]
    return list(dict.fromkeys(found))[:8]


def _serve(links: list[socket.socket], calls: list[str], over: threading.Event) -> None:
    """Write down whoever comes, and send them away."""
    with selectors.DefaultSelector() as selector:
        for each in links:
            selector.register(each, selectors.EVENT_READ, each)
        while not over.is_set():
            for key, _ in selector.select(0.1):
                link: socket.socket = key.data
                with contextlib.suppress(OSError):
                    if link.type == socket.SOCK_DGRAM:
                        _, peer = link.recvfrom(64)
                    else:
                        taken, peer = link.accept()
                        taken.close()
                    calls.append(f"{link.getsockname()!r} was reached from {peer!r}")


def _watched() -> dict[str, str]:
    return {path: _text(path) for path in _WATCHED}


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _link(kind: str) -> str:
    try:
        return str(Path(f"/proc/self/ns/{kind}").readlink())
    except OSError:
        return ""


def _security_module() -> str:
    """The module that confines programs here; empty where there is none."""
    if _text("/sys/module/apparmor/parameters/enabled").startswith("Y"):
        return "apparmor"
    return "selinux" if _text("/sys/fs/selinux/enforce").startswith("1") else ""
