"""The gate.toml that `gate init` writes: all values are defaults and commented out, so it changes nothing."""

from __future__ import annotations

from typing import Final

from gate.project_files.schema import URL
from gate.settings import Config

_HEAD: Final = """\
#:schema {url}
# Settings of gate. They are read from the base of a change, never from the change itself: a pull request that
# edits this file is judged by what stands here before, and the edit is a finding.
# Every line that is commented out is the default. All settings: docs/configuration.md of gate.
"""
CHOSEN: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "policy": (
        ("warn", "The score (1-100) from which a change is worth a look."),
        ("fail", "The score from which it is blocked."),
        ("unrun", 'Changed code that can do harm and did not run is at least: "warn", "fail" or "pass".'),
    ),
    "sandbox": (
        ("backend", '"auto" takes the strongest that works well; `gate doctor` lists what this machine has.'),
        ("minimum", 'The weakest isolation accepted: "process", "container", "user-kernel" or "vm".'),
        ("setup", 'Install the project\'s dependencies for the probes: "auto", "none", "requirements" ...'),
        ("deadline", "Seconds for one probe."),
        ("budget", "Seconds for all probes of one check."),
        ("memory_mb", "Memory of one sandbox."),
        ("deep", "Always run the deep probes."),
    ),
    "prescreen": (("allowed_imports", "Modules that may be imported though no manifest names them."),),
    "override": (
        ("comments", "People may let a finding stand by a comment on the pull request."),
        ("role", 'Who may: "write", "maintain" or "admin".'),
    ),
}
"""The settings that projects choose most often, with what they are in a few words."""


def settings_text() -> str:
    """The whole file."""
    config = Config()
    parts = [_HEAD.format(url=URL)]
    for table, keys in CHOSEN.items():
        lines = [f"[{table}]"]
        for key, words in keys:
            value: object = getattr(getattr(config, table), key)
            lines += [f"# {words}", f"# {key} = {_toml(value)}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return "[]" if value == () else str(value)
