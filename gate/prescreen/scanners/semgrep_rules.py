"""Our Semgrep rules: the YAML files merged into one JSON that the engine reads in one go, and their pages.

Reading a folder of YAML file by file is what makes Semgrep slow to start; one merged JSON is read in
milliseconds. It is cached under the digest of everything that went into it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.resources import rules_dir

_LEVELS: Final = {
    "CRITICAL": Severity.CRITICAL,
    "HIGH": Severity.HIGH,
    "ERROR": Severity.HIGH,
    "MEDIUM": Severity.MEDIUM,
    "WARNING": Severity.MEDIUM,
    "LOW": Severity.LOW,
    "INFO": Severity.LOW,
}
_FORMAT: Final = b"2"
"""Changes when the merged form does."""


@cache
def merged_rules() -> bytes:
    """All rules as Semgrep JSON (``{"rules": [...]}``), metadata included. Empty list without rules."""
    paths = sorted((rules_dir() / "semgrep").rglob("*.yaml"))
    texts = [path.read_bytes() for path in paths]
    digest = hashlib.sha256(_FORMAT + b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()
    cached = _cache_folder()
    if cached is not None:
        try:
            return (cached / f"semgrep-{digest}.json").read_bytes()
        except OSError:
            pass
    merged = json.dumps({"rules": [rule for text in texts for rule in _rules_of(text)]}).encode()
    if cached is not None:
        _write(cached / f"semgrep-{digest}.json", merged)
    return merged


@cache
def semgrep_rules() -> Mapping[str, RuleMeta]:
    """The rules' identities by id. ``metadata`` may hold title, topic, cwe, attack, why, fix, confidence."""
    return {rule["id"]: _meta(rule) for rule in json.loads(merged_rules())["rules"]}


@cache
def rule_languages() -> frozenset[str]:
    """Every language some rule is for, in Semgrep's words."""
    return frozenset(name for rule in json.loads(merged_rules())["rules"] for name in rule["languages"])


def _rules_of(text: bytes) -> list[dict[str, Any]]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return list(yaml.load(text, Loader=loader)["rules"])  # noqa: S506 - a safe loader, the fast one


def _meta(rule: Mapping[str, object]) -> RuleMeta:
    said: Mapping[str, Any] = rule.get("metadata") or {}
    message = " ".join(str(rule["message"]).split())
    return RuleMeta(
        id=rule["id"],
        title=str(said.get("title") or message.split(". ")[0]),
        stage=FindingStage.PRESCREEN,
        severity=_LEVELS.get(str(rule["severity"]).upper(), Severity.MEDIUM),
        confidence=Confidence(str(said.get("confidence", "medium")).lower()),
        help=str(said.get("why") or message),
        remediation=str(said.get("fix") or "See the rule's page for the safe form."),
        topic=str(said.get("topic", "weakness")),
        cwe=_cwe(said.get("cwe", ())),
        attack=tuple(said.get("attack", ())),
        languages=tuple(rule["languages"]),
        origin="gate (semgrep)",
    )


def _cwe(said: object) -> tuple[int, ...]:
    texts = [said] if isinstance(said, str | int) else list(said)
    return tuple(int(match[0]) for text in texts if (match := re.search(r"\d+", str(text))))


def _cache_folder() -> Path | None:
    """A folder only we can write, or None."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME")
    if not home:
        return None
    folder = Path(home) / ("gate" if os.environ.get("XDG_CACHE_HOME") else ".cache/gate")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        return None
    return folder


def _write(path: Path, data: bytes) -> None:
    """Best effort: a cache that cannot be written costs time only."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
