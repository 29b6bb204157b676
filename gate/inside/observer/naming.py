"""The two files by which programs know localhost and whom to ask for other names. Standard library only.

An engine asked for no network at all starts a container in half of the time, and leaves these files empty
there: the watcher writes them where the engine can show them to the sandboxes. Where the host's kernel is
the code's own, each sandbox gets its own: two that have one file can lock it and watch it being opened.
"""

from __future__ import annotations

import contextlib
import os
import time

FILES = ("hosts", "resolv.conf")
"""By their names in /etc. Else a resolver of the host would be there, and asking it would look chosen."""


def texts(host: str) -> dict[str, str]:
    """The two files of a machine with this name."""
    hosts = "127.0.0.1\tlocalhost\n127.0.1.1\t" + host + "\n::1\tlocalhost ip6-localhost ip6-loopback\n"
    return {"hosts": hosts, "resolv.conf": "nameserver 127.0.0.1\n"}


def write(folder: str, host: str) -> None:
    """Into the folder (made if need be), unless they are there: other sandboxes may be looking at them.

    Raises OSError.
    """
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o711)
    for name, text in texts(host).items():
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError), open(path, encoding="ascii") as there:
            if there.read() == text:
                continue
        new = f"{path}.{os.urandom(8).hex()}"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "w") as out:
            out.write(text)
            os.fchmod(out.fileno(), 0o644)
        os.rename(new, path)


_OLD_SECONDS = 24 * 3600


def remove_old(parent: str) -> None:
    """Folders in this one that are a day old: of watchers that were ended before they could."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith("runnervm") and entry.stat().st_mtime < time.time() - _OLD_SECONDS:
                remove(entry.path)


def remove(folder: str) -> None:
    """The files and the folder, as far as they are there; who was shown the files keeps them."""
    with contextlib.suppress(OSError):
        for name in FILES:
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
