"""Supervisors that are forked from a process which has imported everything: ``python3 -I template.py FD``.

Starting Python and importing the supervisor costs several times what a short run makes it do; a fork costs
almost none of that. Over the socket FD comes one message for each: the arguments of ``__main__.py`` as JSON,
with two descriptors, the link to the launcher (its number replaces the word ``LINK``) and a socket that the
supervisor holds open until its end. Over that goes, once, a descriptor of the supervisor's process: whoever
asked can end it. This process never reads a byte of what is watched. Standard library only.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import socket
import sys

MESSAGE = 1 << 16
"""Bytes that a message has at most."""
LINK = "LINK"

_here = os.path.dirname(os.path.abspath(__file__))
if not __package__:  # started by path, outside the project
    sys.path.insert(0, os.path.dirname(_here))
_program = importlib.import_module((__package__ or os.path.basename(_here)) + ".__main__")


class Template:
    """Forks until the other end is gone; what it forked goes on."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.children: dict[int, int] = {}  # by the descriptor of the process
        self.waiting = select.poll()
        self.waiting.register(control, select.POLLIN)

    def run(self) -> int:
        """Serve the socket."""
        while True:
            for descriptor, _ in self.waiting.poll():
                if descriptor != self.control.fileno():
                    self._reap(descriptor)
                elif not self._fork():
                    return 0

    def _fork(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE, 2)
        if not data:
            return False
        link, told = descriptors
        child = os.fork()
        if child == 0:
            os._exit(self._supervise(json.loads(data), link))
        os.close(link)
        handle = os.pidfd_open(child)  # not reaped before it is closed here: the number is the child's
        self.children[handle] = child
        self.waiting.register(handle, select.POLLIN)
        with socket.socket(fileno=told) as asked, contextlib.suppress(OSError):
            socket.send_fds(asked, [b"p"], [handle])
        return True

    def _supervise(self, words: list[str], link: int) -> int:
        """The child: one supervisor, which holds nothing of the others."""
        try:
            os.setsid()
            self.control.close()
            for handle in self.children:
                os.close(handle)
            return int(_program.main([str(link) if word == LINK else word for word in words]))
        except SystemExit:
            return 2
        except BaseException:  # as the interpreter itself ends; the trace has no summary
            return 1

    def _reap(self, handle: int) -> None:
        self.waiting.unregister(handle)
        os.waitpid(self.children.pop(handle), 0)
        os.close(handle)


def main(argv: list[str]) -> int:
    """``template.py FD``: a connected socket that keeps the bounds of messages."""
    gc.freeze()  # a collection in a child would copy every page
    with socket.socket(fileno=int(argv[0])) as control:
        return Template(control).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
