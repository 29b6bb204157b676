"""The entry of the launcher: takes its modules out of one file, then starts launch.py. Python 3.9 and later.

Thirty modules are some two hundred questions to the file system, and in gVisor each is one to a process on
the host: a third of the launcher's start. pack.py, run when the image is built, puts them together.
Without that file, or with one of another Python, they are imported as always.
"""

import _frozen_importlib_external as external  # importlib itself would be one more file
import marshal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType
    from typing import Optional

HERE = __file__.rpartition("/")[0]
PACK = HERE + "/launch.pack"


def stamp() -> bytes:
    """What begins the file: whose compiled code it is."""
    return b"GATEPACK1 " + sys.version.encode() + b"\n" + bytes(external.MAGIC_NUMBER)


class Member(external.SourceFileLoader):
    """A module of the pack; where its source lies stays known."""

    def __init__(self, name: str, path: str, body: bytes) -> None:
        super().__init__(name, path)
        self.body = body

    def get_code(self, fullname: str) -> "CodeType":
        """Instead of the questions for source and cache."""
        code: CodeType = marshal.loads(self.body)
        return code


class Pack:
    """A finder for sys.meta_path: module name -> (path of its source, marshalled code)."""

    def __init__(self, members: dict[str, tuple[str, bytes]]) -> None:
        self.members = members

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Optional[ModuleSpec]":
        """None: not one of ours."""
        found = self.members.get(name)
        if found is None:
            return None
        return external.spec_from_file_location(name, found[0], loader=Member(name, *found))


def unpack() -> None:
    """Put the pack in front of everything, if it is there and made by this Python."""
    try:
        with open(PACK, "rb", 0) as file:
            data = file.read()
    except OSError:
        return
    begin = stamp()
    if data.startswith(begin):
        sys.meta_path.insert(0, Pack(marshal.loads(data[len(begin) :])))


def as_package() -> None:
    """Make this folder importable as ``gate_launcher``; nothing is added to sys.path."""
    package = type(sys)("gate_launcher")
    package.__path__ = [HERE]
    sys.modules["gate_launcher"] = package


if __name__ == "__main__":
    as_package()
    unpack()
    from gate_launcher import main

    main.end()
