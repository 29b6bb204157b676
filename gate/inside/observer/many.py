"""Many supervisors behind one pair of pipes: what the observer container runs.

stdin, one line each: ``watch TOKEN NAMES EVENTS [PATHS]`` (TOKEN: 32 hex digits; NAMES: a folder's name, the
same; PATHS: canaries whose reading ends the run, joined by NUL, as hex). It makes the socket
``FOLDER/TOKEN.sock`` and the files of naming.py in ``FOLDER/NAMES``, answers with a ready frame, and forks a
supervisor that waits there for the launcher. The socket goes when the launcher came, the files when the
supervisor ended. End of stdin: everything ends.

stdout, frames: TOKEN (16 bytes), one type byte, u32 big-endian length, payload.
``r`` ready (empty) · ``t`` trace bytes · ``e`` the supervisor ended (payload: its exit code as text).

One process for each sandbox: they trace in parallel, and one that is flooded costs the others nothing.
Standard library only.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import resource
import selectors
import signal
import socket
import struct
import sys

if __package__:
    from . import handover, naming, supervisor
else:  # started by path, outside the project
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(_here))
    handover = importlib.import_module(os.path.basename(_here) + ".handover")
    supervisor = importlib.import_module(os.path.basename(_here) + ".supervisor")
    naming = importlib.import_module(os.path.basename(_here) + ".naming")

HEAD = struct.Struct(">16scI")
_CHUNK = 1 << 16
_WAIT_SECONDS = 600
_PR_SET_PDEATHSIG = 1


class Many:
    """The parent: makes sockets, forks, forwards."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.selector = selectors.DefaultSelector()
        self.children: dict[int, tuple[bytes, int, str]] = {}
        self.orders = b""

    def run(self) -> int:
        """Serve until stdin ends."""
        self.selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in self.selector.select():
                if key.fd == 0:
                    if not self._listen():
                        return 0
                else:
                    self._forward(key.fd)

    def _listen(self) -> bool:
        data = os.read(0, _CHUNK)
        *lines, self.orders = (self.orders + data).split(b"\n")
        for line in lines:
            verb, token, names, host, events, *paths = line.decode("ascii").split()
            if verb != "watch" or len(token) != 32 or len(names) != 32 or not host.isalnum():
                raise ValueError("not an order: " + repr(line[:80]))
            canaries = bytes.fromhex(paths[0]).decode().split("\0") if paths else []
            self._watch(token, os.path.join(self.folder, names), host, int(events), canaries)
        return bool(data)

    def _watch(self, token: str, names: str, host: str, events: int, canaries: list[str]) -> None:
        path = os.path.join(self.folder, token + ".sock")
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        os.chmod(path, 0o666)  # the sandbox's user is another one; nobody can list the folder
        server.listen(1)
        naming.write(names, host)
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            code = 2
            try:
                self.selector.close()
                os.close(out)
                code = _supervise(server, path, token, into, events, canaries)
            finally:
                os._exit(code)
        server.close()
        os.close(into)
        self.children[out] = (bytes.fromhex(token), child, names)
        self.selector.register(out, selectors.EVENT_READ)
        _say(bytes.fromhex(token), b"r", b"")

    def _forward(self, out: int) -> None:
        token, child, names = self.children[out]
        data = os.read(out, _CHUNK)
        if data:
            _say(token, b"t", data)
            return
        self.selector.unregister(out)
        os.close(out)
        del self.children[out]
        _, status = os.waitpid(child, 0)
        naming.remove(names)
        _say(token, b"e", str(os.waitstatus_to_exitcode(status)).encode())


def _supervise(
    server: socket.socket, path: str, token: str, out: int, events: int, canaries: list[str]
) -> int:
    """The child: one launcher, one trace."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    handover.stop_on_term()
    os.close(0)
    try:
        server.settimeout(_WAIT_SECONDS)
        link, _ = server.accept()
        link.settimeout(10)
        listener = handover.receive_listener(link, bytes.fromhex(token))
    except (OSError, handover.StoppedError) as error:
        print("observer:", error or "stopped", file=sys.stderr)
        return 2
    finally:
        os.unlink(path)
        server.close()
    link.settimeout(None)
    watch = supervisor.Supervisor(listener, out, link=link, events=events, canaries=canaries)
    return 0 if watch.run(None) == "exited" else 1


def _say(token: bytes, kind: bytes, payload: bytes) -> None:
    data = memoryview(HEAD.pack(token, kind, len(payload)) + payload)
    while data:
        data = data[os.write(1, data) :]


def main(argv: list[str]) -> int:
    """``many.py FOLDER``: a folder that sandboxes can reach but not list."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65536)), hard))
    os.chmod(argv[0], 0o711)
    return Many(argv[0]).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
