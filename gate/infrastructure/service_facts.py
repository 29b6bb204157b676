"""systemd units, Dockerfiles, sudoers, keys that may log in: as whom something runs, how it is confined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.facts import Fact, FileFacts
from gate.regex import regex

_ROOT: Final = frozenset(("root", "0", "root:root", "0:0"))
_CONFINES: Final = frozenset(
    [
        "nonewprivileges",
        "privatetmp",
        "privatedevices",
        "privatenetwork",
        "protectsystem",
        "protecthome",
        "protectkerneltunables",
        "protectkernelmodules",
        "protectcontrolgroups",
        "restrictsuidsgid",
        "restrictnamespaces",
        "restrictaddressfamilies",
        "lockpersonality",
        "memorydenywriteexecute",
        "systemcallfilter",
        "capabilityboundingset",
        "dynamicuser",
        "ipaddressdeny",
        "readonlypaths",
        "inaccessiblepaths",
    ]
)
_ROOT_GROUPS: Final = frozenset(
    ("docker", "root", "wheel", "sudo", "shadow", "disk", "lxd", "libvirt", "kvm", "podman")
)
_EVERYBODYS: Final = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - looked for, not used
_SYSTEM: Final = frozenset(
    ("/", "/etc", "/root", "/usr", "/boot", "/home", "/proc", "/sys", "/var", "/bin", "/lib")
)
_OFF: Final = frozenset(("no", "false", "off", "0", ""))
_STRONG: Final = regex(
    r"\b(?:CAP_)?(?:SYS_ADMIN|SYS_MODULE|SYS_PTRACE|DAC_READ_SEARCH|DAC_OVERRIDE|SYS_RAWIO)\b"
)
_KEY: Final = regex(r"(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[\w@.-]+)\s+([A-Za-z0-9+/=]{20,})")
_FREE: Final = regex(r"^\s*(\S+)\s+[^#=]{1,80}=\s*\([^)]*\)\s*NOPASSWD\s*:\s*(.{1,200})")


def unit_facts(text: str, path: str) -> FileFacts:
    """A systemd unit or its drop-in; the subject is the unit's name."""
    pure = PurePosixPath(path)
    unit = pure.parent.name.removesuffix(".d") if pure.parent.name.endswith(".d") else pure.name
    facts: list[Fact] = []
    user, at = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        key, mark, value = (part.strip() for part in line.partition("="))
        low = key.lower()
        if not mark or key.startswith(("#", ";")):
            continue
        if low == "user":
            user, at = value, number
        elif low in _CONFINES and value.lower() not in _OFF:
            facts.append(Fact("guard", "confinement", f"{unit} {key}", number, line.strip()[:120]))
        elif found := _loosened(low, value, unit):
            facts += [Fact("grant", what, f"{unit} {who}", number, line.strip()[:120]) for what, who in found]
        elif low in ("ambientcapabilities", "capabilityboundingset") and _STRONG.search(value):
            facts.append(
                Fact("grant", "strong-capability", f"{unit} {value[:80]}", number, line.strip()[:120])
            )
    facts.append(_runs_as(unit, user, at))
    return FileFacts(facts=facts, subjects=[unit, *(fact.subject for fact in facts)])


def _loosened(key: str, value: str, unit: str) -> list[tuple[str, str]]:
    """What one setting of a unit gives away: kind of grant, and of what."""
    words = value.split()
    if key in ("supplementarygroups", "group"):
        return [("root-by-group", word) for word in words if word in _ROOT_GROUPS]
    if key in ("readwritepaths", "bindpaths"):
        bare = [word.lstrip("-+").partition(":")[0].rstrip("/") or "/" for word in words]
        return [("writes-system", word) for word in bare if word in _SYSTEM]
    if key in ("environmentfile", "execstart", "execstartpre", "execstartpost", "loadcredential"):
        place = value.lstrip("-+!@:").split(" ")[0]
        return [("from-anybody", place)] if place.startswith(_EVERYBODYS) else []
    if key == "listenstream" and re.search(r"(?:^|:)(?:2375|2376|5432|6379|3306|9200|27017|2379)$", value):
        return [] if value.startswith(("127.", "[::1]")) else [("engine-open", value)]
    if key == "socketmode" and value[-1:] in ("2", "3", "6", "7") and "docker" in unit + value:
        return [("engine-open", f"mode {value}")]
    return []


def image_facts(text: str, path: str) -> FileFacts:
    """As whom the last stage of a Dockerfile runs."""
    user, at = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if words[:1] and words[0].upper() == "FROM":
            user = ""
        elif len(words) > 1 and words[0].upper() == "USER":
            user, at = words[1], number
    return FileFacts(facts=[_runs_as(path, user, at)], subjects=[path])


def _runs_as(subject: str, user: str, line: int) -> Fact:
    if user and user not in _ROOT:
        return Fact("guard", "own-user", subject, line, f"user {user}")
    return Fact("grant", "runs-as-root", subject, line, f"user {user or 'not said'}")


def account_facts(text: str, path: str) -> FileFacts:
    """``authorized_keys`` and ``sudoers``."""
    return FileFacts(facts=[*_accounts(text, path)], subjects=[path])


def _accounts(text: str, path: str) -> Iterator[Fact]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        if "authorized_keys" in path and (key := _KEY.search(line[:10_000])):
            yield Fact("grant", "login-key", key[2], number, f"{key[1]} …{key[2][-12:]}")
        elif "sudoers" in path and (free := _FREE.search(line[:1_000])):
            yield Fact(
                "grant", "password-free-root", f"{free[1]} {free[2].strip()}", number, line.strip()[:120]
            )
