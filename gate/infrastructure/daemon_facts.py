"""Settings of daemons: sshd, Redis, PostgreSQL, MySQL, HAProxy, Docker, forwarders of logs.

One table says what each key protects; what a file does not set has the daemon's own default, so that a
protection that is deleted and one that is turned off are the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.infrastructure.server_widths import sent_to
from gate.regex import regex


class _Key(NamedTuple):
    """``steps`` from weak to strong; ``default`` is what holds without the key ("" : nothing is said)."""

    steps: tuple[str, ...]
    default: str = ""


_NO, _YES = ("yes", "no"), ("no", "yes")
_KEYS: Final[dict[str, dict[str, _Key]]] = {
    "sshd": {
        "permitrootlogin": _Key(
            ("yes", "prohibit-password", "forced-commands-only", "no"), "prohibit-password"
        ),
        "passwordauthentication": _Key(_NO, "yes"),
        "kbdinteractiveauthentication": _Key(_NO, "yes"),
        "permitemptypasswords": _Key(_NO, "no"),
        "pubkeyauthentication": _Key(_YES, "yes"),
        "strictmodes": _Key(_YES, "yes"),
        "hostbasedauthentication": _Key(_NO, "no"),
        "permituserenvironment": _Key(_NO, "no"),
        "gatewayports": _Key(_NO, "no"),
        "permittunnel": _Key(_NO, "no"),
        "usepam": _Key(_YES),
    },
    "redis": {
        "protected-mode": _Key(_YES, "yes"),
        "tls-auth-clients": _Key(("no", "optional", "yes"), "yes"),
    },
    "postgresql": {"ssl": _Key(("off", "on"), "off"), "password_encryption": _Key(("md5", "scram-sha-256"))},
    "mysql": {
        "require_secure_transport": _Key(("off", "on"), "off"),
        "local_infile": _Key(("on", "off")),
        "skip_grant_tables": _Key(("on", "off"), "off"),
    },
}
_LISTS: Final[dict[str, tuple[str, ...]]] = {
    "sshd": ("trustedusercakeys", "authorizedkeyscommand", "authorizedkeysfile", "listenaddress"),
    "redis": ("bind",),
    "postgresql": ("listen_addresses",),
    "mysql": ("bind_address",),
}
"""Keys that name who is trusted, or where the daemon listens."""
_SECRETS: Final[dict[str, tuple[str, ...]]] = {
    "redis": ("requirepass", "aclfile", "masterauth"),
    "sshd": ("allowusers", "allowgroups", "authenticationmethods", "denyusers"),
    "postgresql": (),
    "mysql": (),
}
"""Keys that are a protection by being there."""
_SPELT: Final = {"without-password": "prohibit-password", "1": "on", "0": "off", "true": "on", "false": "off"}
_HBA: Final = ("trust", "password", "ident", "md5", "peer", "scram-sha-256", "gss", "ldap", "cert", "reject")
_REFUSES: Final = regex(r"\b(?:deny|reject|auth|tarpit|silent-drop)\b")
_DOCKER_LISTS: Final = ("hosts", "insecure-registries", "registry-mirrors")


def daemon_kind(path: str) -> str:
    """Which daemon's file this is by its name; "" for none."""
    name = PurePosixPath(path).name.lower()
    if name == "sshd_config" or (".conf" in name and "sshd_config.d/" in path):
        return "sshd"
    if name == "pg_hba.conf":
        return "pg_hba"
    if name.endswith((".conf", ".cfg", ".cnf")):
        for word, kind in (
            ("redis", "redis"), ("valkey", "redis"), ("postgresql", "postgresql"), ("haproxy", "haproxy"),
            ("fluent", "forwarder"), ("td-agent", "forwarder"), ("rsyslog", "forwarder"), ("mysql", "mysql"),
            ("mariadb", "mysql"), ("my.cnf", "mysql"),
        ):  # fmt: skip
            if word in name:
                return kind
    return ""


def daemon_facts(text: str, path: str) -> FileFacts:
    """Facts and widths of such a file."""
    kind = daemon_kind(path)
    readers = {"pg_hba": _host_based, "haproxy": _proxy, "forwarder": _forwarded}
    return FileFacts.of(readers[kind](text, path) if kind in readers else _by_table(text, path, kind), [path])


def docker_widths(data: object, path: str) -> Iterator[Width]:
    """``daemon.json``: where the engine listens and what it trusts; without a key, nobody."""
    if PurePosixPath(path).name.lower() != "daemon.json" or not isinstance(data, dict):
        return
    for key in _DOCKER_LISTS:
        value = data.get(key, [])
        members = [str(one) for one in value] if isinstance(value, list) else []
        yield Width("trusted", f"{path} {key}", 1, f"{key}: {json.dumps(members)}"[:120], members=members)
    plain = any(str(one).startswith("tcp:") for one in data.get("hosts") or ())
    yield Width(
        "weaker", f"{path} tcp", 1, "hosts: tcp", measure=float(plain and data.get("tlsverify") is not True)
    )


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].replace("=", " ", 1).split()
        if words:
            yield number, words


def _by_table(text: str, path: str, kind: str) -> Iterator[Fact | Width]:
    said: dict[str, tuple[int, str]] = {}
    lists: dict[str, list[str]] = {}
    block = ""
    for number, words in _rows(text):
        key, value = words[0].lower(), " ".join(words[1:]).strip("'\"").lower()
        if kind == "mysql":
            key = key.replace("-", "_")
        if key == "match":
            block = value
        key = f"{block} {key}" if block and key != "match" else key
        # The first value counts for sshd, the last one for all others.
        if kind != "sshd" or key not in said:
            said[key] = number, value or "on"
        lists.setdefault(key, []).extend(re.split(r"[,\s]+", value))
    for name, known in _KEYS[kind].items():
        for key in {name, *(one for one in said if one.endswith(f" {name}"))}:
            at, value = said.get(key, (1, known.default))
            value = _SPELT.get(value, value)
            if value in known.steps:
                measure = len(known.steps) - float(known.steps.index(value))
                yield Width("weaker", f"{path} {key}", at, f"{key} {value}", measure=measure)
    for key in _LISTS[kind]:
        if key in lists:
            members = [one for one in lists[key] if one]
            text_of = f"{key} {' '.join(members)}"[:120]
            yield Width("trusted", f"{path} {key}", said[key][0], text_of, members=members)
    for key in _SECRETS[kind]:
        if key in said:
            yield Fact("guard", "authentication", f"{path} {key}", said[key][0], key)


def _host_based(text: str, path: str) -> Iterator[Width]:
    """``pg_hba.conf``: which networks, how weak the weakest method is, whether without TLS."""
    for number, row in _rows(text):
        words = row
        if len(words) < 4 or words[-1] == "reject":
            continue
        kind, address = words[0], words[3] if words[0] != "local" else "local"
        if len(words) > 5 and words[0] != "local" and re.fullmatch(r"[\d.]+", words[4]):
            address, words = f"{address}/{words[4]}", [*words[:4], *words[5:]]
        method = next((one for one in words[3:] if one in _HBA), "")
        said = " ".join(words)[:120]
        inside = address in ("local", "samehost", "127.0.0.1/32", "::1/128", "localhost")
        if not inside:
            yield Width("trusted", f"{path} networks", number, said, members=[address])
            plain = float(kind not in ("hostssl", "hostgssenc"))
            yield Width("weaker", f"{path} plain", number, said, measure=plain)
        far = len(_HBA) - float(_HBA.index(method)) if method else 0.0
        yield Width("weaker", f"{path} {'inside' if inside else 'outside'} method", number, said, measure=far)


def _proxy(text: str, path: str) -> Iterator[Fact | Width]:
    """``haproxy.cfg``: refusals of each section, checks of the servers behind, networks of its lists."""
    section, refusals, at = "global", dict[str, int](), dict[str, int]()
    for number, words in _rows(text):
        if words[0] in ("global", "defaults", "frontend", "backend", "listen", "userlist", "peers"):
            section = " ".join(words[:2])
            refusals[section], at[section] = refusals.get(section, 0), number
            continue
        said = " ".join(words)
        if words[0] in ("http-request", "tcp-request", "http-response") and _REFUSES.search(said):
            refusals[section] = refusals.get(section, 0) + 1
        elif words[0] in ("server", "default-server") and "ssl" in words:
            who = f"{path} {section} {words[1]}"
            off = "none" in words[words.index("verify") + 1 :][:1] if "verify" in words else False
            yield Width("weaker", f"{who} verify", number, said[:120], measure=float(off))
        elif words[0] in ("server", "default-server"):
            yield Width("weaker", f"{path} {section} {words[1]} verify", number, said[:120], measure=2.0)
        if words[0] == "bind" and "verify" in words:
            mode = words[words.index("verify") + 1 :][:1]
            steps = {"none": 2.0, "optional": 1.0}
            yield Width(
                "weaker",
                f"{path} {section} clients",
                number,
                said[:120],
                measure=steps.get("".join(mode), 0.0),
            )
        if words[0] == "acl" and "src" in words:
            members = [one for one in words[words.index("src") + 1 :] if not one.startswith("-")]
            yield Width("trusted", f"{path} {section} acl {words[1]}", number, said[:120], members=members)
    for name, count in refusals.items():
        yield Width(
            "weaker",
            f"{path} {name} refusals",
            at.get(name, 1),
            f"{count} refusals in {name}",
            measure=-count,
        )


def _forwarded(text: str, path: str) -> Iterator[Fact]:
    """Where Fluent Bit, Fluentd and rsyslog send logs."""
    sending = False
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip().split()
        if not words or words[0].startswith("#"):
            continue
        low = words[0].lower()
        if low.startswith(("[", "<")):
            sending = low == "[output]" or low.startswith(("<match", "<server", "<store"))
        elif sending and low in ("host", "hostname", "uri", "url", "endpoint") and len(words) > 1:
            host = re.sub(r"^\w+://", "", words[1]).partition("/")[0]
            yield from sent_to(host, path, number, " ".join(words))
        elif re.search(r"(?:^|\s)@@?[\w.\[(-]", line):
            host = line.rpartition("@")[2].strip()
            yield from sent_to(re.sub(r"^\([^)]*\)", "", host).split()[0], path, number, " ".join(words))
