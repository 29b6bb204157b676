"""What kind of place a path is, and its name that stays the same from run to run.

Traced paths are absolute but otherwise as the code wrote them. ``place`` is total: any text gives an
answer, and equal text gives an equal answer.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.inside.observer.text import bytes_of
from gate.regex import regex
from gate.tracing.behaviour.normalise import name_shape

TREE: Final = "/work/tree"
_NOT_UTF8: Final = regex("[\udc80-\udcff]")
_TOLD_BYTE: Final = regex(r"\\udc([89a-f][0-9a-f])")
HOME: Final = "/work/home"
INSTALLED: Final = "/work/out"
"""Where an installation puts the packages."""
GATE: Final = ("/opt/gate", "/run/gate")

Kind = Literal["own", "tree", "home", "scratch", "device", "proc", "sys", "names", "system", "gate", "quiet"]
"""``own``: interpreter, standard library, installed packages and shared libraries. ``quiet``: what every
program reads (locale, time zone, loader cache). ``names``: what a name or user look-up reads.
``gate``: our own files. ``system``: everything else outside the tree, home and scratch."""


@dataclass(frozen=True, slots=True)
class PathClass:
    """``shown`` is the stable name: ``tree:src/a.py``, ``~/.netrc``, ``/tmp/*``, ``/etc/passwd``."""

    kind: Kind
    shown: str
    noise: bool = False
    """Caches and by-products that tools leave behind: never worth a behaviour."""


_TEMP_FILE: Final = PathClass("scratch", "/tmp/*")  # noqa: S108
_ROOT_ALIAS = regex(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/(?:root|cwd(?=/work/|/etc/))(?=/)")
_HOMES = regex(r"/root(?=/|\Z)|/home/[^/]+(?=/)")
"""Homes other than the sandbox's own. What lies directly in /home is a file of the system."""
_SCRATCH = regex(r"(?:/tmp|/var/tmp|/dev/shm|/run/user/\d+|/run/lock|/var/lock|/work/cache)(?=/|\Z)")
"""``/work/cache`` is the installer's (uv, npm), of one sandbox only: each build gets a drawn name there."""
_UUID_CLOCK = "/var/lib/libuuid/clock.txt"
"""Every program that makes a UUID of the time opens it (libuuid, Python's uuid.getnode and uuid1)."""
_CLOCK = regex(r"/dev/shm/(?:sem\.)?gate-clock-\d+\Z")  # noqa: S108
"""What programs share of a moved clock (gate/inside/driver/clock_preload.py)."""
_OWN = regex(
    r"(?:/usr(?:/local)?)?/lib(?:32|64|x32|exec)?/(?!systemd/|cron|rpm|sysctl|modules|udev|init/)"
    r"|/(?:usr/(?:local/)?)?s?bin(?:/|\Z)"
    r"|/opt/(?:venv|python|pypy|conda|deps|runtime)(?:/|\Z)|/OPT/(?:DEPS|RUNTIME)/"  # is there another case?
    r"|/usr/(?:local/)?(?:include|share/(?:python|nodejs|perl|git-core|doc|pyshared|gcc|dpkg))"
    r"|/usr/(?:local/)?(?:lib|share)\Z|/lib64?\Z|/usr(?:/local)?\Z|/\Z"
)
_QUIET = regex(
    r"/etc/(?:ld\.so\.(?:cache|preload|conf)|localtime|timezone|locale\.alias|mime\.types|magic|alternatives/"
    r"|ssl/(?:certs|openssl\.cnf|cert\.pem)|ca-certificates|pki/tls|terminfo|environment\Z|gitconfig"
    r"|python3|selinux/config|os-release|debian_version|inputrc\Z|perl|crypto-policies|httpd/mime\.types"
    r"|apache2?/mime\.types|pip\.conf|xdg/pip)"
    r"|/usr/(?:local/)?share/(?:zoneinfo|locale|i18n|mime|misc/magic|terminfo|X11/locale|ca-certificates|icu|file)"
    r"|/usr/(?:local/)?(?:lib/(?:ssl|locale|os-release)|etc)"
    r"|/(?:lib|usr/lib|etc)/terminfo|/var/cache/ldconfig|/usr/local/nginx/conf/mime\.types"
    r"|/sys/(?:devices/system/cpu(?:/|\Z)|kernel/mm/transparent_hugepage|fs/selinux)"
    r"|/proc/(?:sys/(?:vm/overcommit_memory|kernel/(?:cap_last_cap|ngroups_max|random/(?:uuid|entropy_avail)|pid_max)"
    r"|net/core/somaxconn|fs/pipe-max-size)|filesystems|stat|loadavg)\Z"
    # above the project: how pytest, setuptools and others look for its top
    r"|/(?:work/)?(?:__init__\.py|\.?pytest\.(?:ini|toml)|pyproject\.toml|tox\.ini|setup\.(?:cfg|py)"
    r"|conftest\.py|\.git|\.hg)\Z"
)
_NAMES = regex(
    r"/etc/(?:resolv\.conf|hosts|nsswitch\.conf|host\.conf|gai\.conf|protocols|services|networks|hostname)\Z"
    r"|/(?:var/)?run/nscd(?:/|\Z)"
)
_DEVICE = regex(
    r"/dev/(?:null|zero|full|u?random|tty\w*|pts(?:/.*)?|ptmx|std(?:in|out|err)|fd(?:/.*)?|console)\Z"
)
_OWN_PROC = regex(
    r"/proc/self/(?:maps|smaps\w*|stat|statm|fd(?:info)?(?:/.*)?|task(?:/.*)?|exe|cmdline|comm|limits|auxv"
    r"|oom_\w+|coredump_filter|loginuid|sessionid|timerslack_ns|attr/.*|ns(?:/.*)?|cwd|root|io|net/if_inet6)\Z"
)
_NOISE_TREE = regex(
    r"(?:\A|/)(?:__pycache__|\.(?:pytest|mypy|ruff|hypothesis|nox|tox|eggs|coverage|cache|benchmarks|testmondata)\w*"
    r"|node_modules/\.cache|[^/]+\.egg-info|[^/]+\.dist-info)(?:/|\Z)|\.py[co](?:\.\d+)?\Z|\A\.git/index"
)
_GIT_OWN = regex(r"(\.git/(?:objects/|t(?=\w{6}\Z)))(?!info/|pack/\Z).+\Z")
"""Objects are named after what they hold, dates included; ``tXXXXXX`` is made to see if links work here."""
_NOISE_HOME = regex(
    r"\A\.(?:cache|local/state|python_history|pytest_cache|hypothesis|config/(?:matplotlib|pip\Z))(?:/|\Z)"
    r"|\A\.config\Z|\A\.local(?:/share|/lib)?\Z|__pycache__|\A\Z"
)


def classify_path(path: str, own_pids: frozenset[int] = frozenset()) -> PathClass:
    """Where a traced path lies. ``own_pids`` are numbers that mean the calling process in /proc."""
    if path.startswith("/proc/"):
        path = _proc(path, own_pids)
    elif path.startswith("/tmp/") and "/.." not in path:  # noqa: S108  # floods of temp files: no more than this
        return _TEMP_FILE
    return _place(path)


def _proc(path: str, own_pids: frozenset[int]) -> str:
    while match := _ROOT_ALIAS.match(path):
        path = path[match.end() :]
    if not path.startswith("/proc/"):
        return path
    path = posixpath.normpath(path)
    first, _, rest = path[6:].partition("/")
    if first == "thread-self" or (first.isdecimal() and int(first[:9]) in own_pids):
        first = "self"
    elif first.isdecimal() and first != "1":
        first = "<pid>"
    rest = re.sub(r"(?<=task/)\d+", "<tid>", rest)
    rest = re.sub(r"\A(fd(?:info)?)/\d+\Z", r"\1/<n>", rest)
    return f"/proc/{first}/{rest}" if rest else f"/proc/{first}"


@lru_cache(maxsize=50_000)
def _place(raw: str) -> PathClass:
    path = posixpath.normpath(raw) if raw else "/"
    if path.startswith("//"):
        path = path[1:]
    if path == TREE or path.startswith(TREE + "/"):
        inside = path[len(TREE) + 1 :]
        return PathClass("tree", "tree:" + stable(inside), bool(_NOISE_TREE.search(inside)))
    if path == HOME or path.startswith(HOME + "/"):
        return _home(path[len(HOME) + 1 :])
    if match := _HOMES.match(path):
        return _home(path[match.end() + 1 :])
    if match := _SCRATCH.match(path):
        return PathClass("scratch", match[0] + "/*", bool(_CLOCK.match(path)))
    if any(path == g or path.startswith(g + "/") for g in GATE):
        return PathClass("gate", path, noise=True)
    return PathClass(_outside(path), stable(path), path == _UUID_CLOCK)


def _home(inside: str) -> PathClass:
    return PathClass("home", "~/" + stable(inside), bool(_NOISE_HOME.search(inside)))


def _outside(path: str) -> Kind:
    if path.startswith(("/var/lib", "/var/log", "/srv", "/mnt", "/app", "/boot")):
        return "system"
    if _QUIET.match(path) or _OWN_PROC.match(path):
        return "quiet"
    if path.endswith(("/pyvenv.cfg", "/mime.types")):
        return "own"
    if _DEVICE.match(path):
        return "device"
    if _NAMES.match(path):
        return "names"
    if path.startswith("/proc"):
        return "proc"
    if path.startswith("/sys"):
        return "sys"
    if _OWN.match(path) or "/site-packages" in path or "/dist-packages" in path:
        return "own"
    if path in ("/etc", "/work", "/var", "/opt", "/home", "/run", "/srv", "/mnt", "/dev", "/app"):
        return "quiet"
    return "system"


def stable(path: str) -> str:
    """A path whose random, numbered and hashed parts are replaced by ``*``."""
    named = _GIT_OWN.sub(r"\1*", path) if ".git/" in path else path
    return "/".join([name_shape(part) for part in named.split("/")])


def path_in_tree(traced: str) -> str | None:
    """A traced path as a change spells it: below the tree, bytes that are no UTF-8 as lone surrogates
    (``os.fsdecode``); None for a path elsewhere.
    """
    if not traced.startswith(TREE + "/"):
        return None
    inside = traced[len(TREE) + 1 :]
    return inside if "\\" not in inside else bytes_of(inside).decode("utf-8", "surrogateescape")


def path_as_told(told: str) -> str:
    """A path of the driver's report as a change spells it: there, such bytes are written as escapes."""
    return _TOLD_BYTE.sub(lambda match: chr(int(f"dc{match[1]}", 16)), told)


def path_as_replaced(path: str) -> str:
    """A change's path as an observer writes it that has U+FFFD for bytes that are no UTF-8 (gVisor)."""
    return _NOT_UTF8.sub("\ufffd", path)
