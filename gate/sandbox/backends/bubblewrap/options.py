"""The command line of bubblewrap (bwrap(1)): which namespaces, and what there is to see inside."""

from __future__ import annotations

import marshal
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from types import CodeType
from typing import Final

from gate.dataclass import dataclass
from gate.inside.observer.naming import texts
from gate.model.run import SandboxSpec
from gate.regex import regex
from gate.resources import inside_dir
from gate.sandbox.backends.container.options import HOST_NAME, LAUNCHER, MASKED, UID, plant_folders
from gate.sandbox.tree_archive import PATH, WORK

_PROGRAMS: Final = ("driver", "launcher", "runtimes")
_KINDS: Final = (".py", ".mjs", ".cjs")
_AT_START: Final = regex(r"(/opt/gate/(?:driver|launcher)/(?:javascript/)?)([^/]+)\.py")
_UNCHECKED: Final = 1
_MERGED: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FROM_ETC: Final = ("ld.so.cache", "alternatives", "mime.types")
_ETC: Final = {
    "/etc/passwd": f"root:x:0:0:root:/root:/bin/sh\nrunner:x:{UID}:{UID}:,,,:/work/home:/bin/bash\n",
    "/etc/group": f"root:x:0:\nrunner:x:{UID}:\n",
    "/etc/hosts": texts(HOST_NAME)["hosts"],
    "/etc/hostname": f"{HOST_NAME}\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "/etc/resolv.conf": texts(HOST_NAME)["resolv.conf"],
    "/etc/host.conf": "multi on\n",
    "/etc/issue": "Debian GNU/Linux 12 \\n \\l\n",
    "/etc/inputrc": "set input-meta on\nset output-meta on\n",
    "/etc/shells": "/bin/sh\n/bin/bash\n",
    "/etc/login.defs": "UID_MIN 1000\nENCRYPT_METHOD YESCRYPT\n",
    "/etc/crontab": "SHELL=/bin/sh\n",
    "/etc/security/limits.conf": "# <domain> <type> <item> <value>\n",
    "/etc/ssh/ssh_config": "Host *\n    HashKnownHosts yes\n",
    "/etc/apt/sources.list": "deb http://deb.debian.org/debian bookworm main\n",
    "/etc/wgetrc": "passive_ftp = on\n",
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How bubblewrap is started here.

    ``user``: root becomes this ordinary user first, so that even outside the user namespace the code
    is nobody; None: whoever runs gate. ``python``: a prefix to show as /usr/local, or None.
    ``no_nesting``: this version can forbid further user namespaces inside. ``shared``: what else is shown
    read-only, as (host path, path inside). ``root``: whose /usr and programs' settings are shown.
    """

    program: str
    user: int | None
    python: str | None
    no_nesting: bool
    shared: tuple[tuple[str, str], ...] = ()
    root: Path = Path("/")


def layouts(program: str, version: tuple[int, ...]) -> list[Layout]:
    """What to try, strongest first."""
    python = None if shutil.which("python3", path=PATH) else sys.base_prefix
    users = (UID, None) if os.geteuid() == 0 else (None,)
    return [Layout(program=program, user=user, python=python, no_nesting=version >= (0, 8)) for user in users]


@cache
def _launcher() -> tuple[tuple[str, bytes], ...]:
    root = inside_dir()
    files = sorted(path for name in _PROGRAMS for path in (root / name).rglob("*.*") if path.suffix in _KINDS)
    sources = {f"/opt/gate/{path.relative_to(root).as_posix()}": path.read_bytes() for path in files}
    return (*sources.items(), *_compiled(sources))


def _compiled(sources: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Bytecode of what the launcher and the driver begin with, where Python looks for it (PEP 552: with its
    source's hash, never compared): else each sandbox compiles it anew. Those of another Python than gate's
    pass it by, by its name and first bytes.
    """
    begin = MAGIC_NUMBER + _UNCHECKED.to_bytes(4, "little")
    root = inside_dir()
    for path, source in sources.items():
        if found := _AT_START.fullmatch(path):
            here = root / path.removeprefix("/opt/gate/")
            name = f"{found[1]}__pycache__/{found[2]}.{sys.implementation.cache_tag}.pyc"
            yield name, begin + source_hash(source) + marshal.dumps(_code(here, path, source))


def _code(here: Path, path: str, source: bytes) -> CodeType:
    """The code of one of our modules as of ``path``: what lies compiled beside it where that is current. To
    compile all of them takes a third of a second.
    """
    if sys.flags.optimize:
        return compile(source, path, "exec", dont_inherit=True, optimize=0)
    code: CodeType = SourceFileLoader("gate_inside", str(here)).get_code("gate_inside")  # type: ignore[assignment]
    return _renamed(code, path)


def _renamed(code: CodeType, path: str) -> CodeType:
    constants = tuple(_renamed(one, path) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=path, co_consts=constants)


def contents() -> dict[str, bytes]:
    """Files that exist only inside: path -> content. Handed over as descriptors, in this order."""
    return dict(_launcher()) | {path: text.encode() for path, text in _ETC.items()}


def arguments(layout: Layout, spec: SandboxSpec, files: Mapping[str, int], info_fd: int) -> list[str]:
    """The whole command. ``files`` maps each path of ``contents()`` to a readable descriptor."""
    limits = spec.limits
    words = [
        layout.program,
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        "--unshare-cgroup-try",
        *(("--disable-userns",) if layout.no_nesting else ()),
        *("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--setenv", "PATH", PATH),
        *("--cap-drop", "ALL", "--uid", str(UID), "--gid", str(UID), "--hostname", HOST_NAME),
        *("--info-fd", str(info_fd)),
        *("--ro-bind", str(layout.root / "usr"), "/usr"),
    ]
    for name in _MERGED:
        path = layout.root / name
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), f"/{name}"]
        elif path.is_dir():
            words += ["--ro-bind", str(path), f"/{name}"]
    if layout.python:
        words += ["--ro-bind", layout.python, "/usr/local"]
    etc = layout.root / "etc"
    for name in (*_FROM_ETC, *(path.name for path in sorted(etc.glob("python3*")))):
        words += ["--ro-bind-try", str(etc / name), f"/etc/{name}"]
    if (layout.root / "usr/lib/os-release").is_file():  # the system is the one whose /usr is shown
        words += ["--symlink", "../usr/lib/os-release", "/etc/os-release"]
    for source, place in layout.shared:
        words += ["--ro-bind", source, place]
    for path_inside, fd in files.items():
        words += ["--perms", "0644", "--file", str(fd), path_inside]
    words += ["--proc", "/proc", "--dev", "/dev", *_masks()]
    words += [*_tmpfs("/dev/shm", 16 << 20, "1777"), "--remount-ro", "/dev"]  # noqa: S108  # inside
    words += _tmpfs(WORK, limits.scratch, "0755")
    words += _tmpfs("/tmp", limits.scratch, "1777")  # noqa: S108  # inside the sandbox
    for folder in plant_folders(tuple(spec.files)):
        words += _tmpfs(folder, 1 << 20, "0755")
    return [*words, "--chdir", WORK, "--remount-ro", "/", "--", *LAUNCHER]


def _tmpfs(path: str, size: int, mode: str) -> list[str]:
    return ["--perms", mode, "--size", str(size), "--tmpfs", path]


def _masks() -> list[str]:
    """Cover what tells about the host; /sys is not there at all."""
    words = []
    for path in MASKED:
        if not path.startswith("/proc/"):
            continue
        if Path(path).is_dir():
            words += [*_tmpfs(path, 4096, "0555"), "--remount-ro", path]
        elif Path(path).exists():
            words += ["--ro-bind", "/dev/null", path]
    # an ipc or pid namespace's own settings belong to whoever made it, however few rights it has inside
    return [*words, "--ro-bind", "/proc/sys", "/proc/sys"]
