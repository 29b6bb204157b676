"""Attacks on a change of JavaScript in a real sandbox, packages of npm laid into the tree of base."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from gate.change.git_range import open_range
from gate.model.exploit import Attacks
from gate.model.run import SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.stages.exploit import attack, targets_of
from tests.contract.capabilities import capability
from tests.npm_packages import npm_packages
from tests.vulnerable import running

MODULE: Final = {"package.json": json.dumps({"name": "shop", "type": "module", "private": True})}


def attacked(
    folder: Path, base: Mapping[str, str], head: Mapping[str, str], *packages: str, seconds: float = 240
) -> Attacks:
    """What the stage finds of that change; skips where there is no sandbox. ``seconds``: not those of a user,
    others run beside it.
    """
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    files = {**MODULE, **base, **(_laid(npm_packages(*packages)) if packages else {})}
    case = running.Case(weakness="none", name="x", right="secure", base=files, head=dict(head))
    spec = SandboxSpec(network="sinkhole", runtimes=("javascript",))
    with open_range(running.repository(case, folder), "main", "head") as opened:
        targets = targets_of(opened)
        if not targets:
            return Attacks()  # as the stage does: nothing of it can be reached
        with BACKENDS["bubblewrap"]().open(spec, opened.base, opened.head) as session:
            return attack(session, targets, opened, seconds=seconds)


def proven(attacks: Attacks) -> set[tuple[str, str]]:
    """Weakness and entry of what base was not open to."""
    return {(proof.weakness, proof.entry) for proof in attacks.proofs if proof.is_new}


def was_attacked(attacks: Attacks) -> bool:
    """Was every target asked, and to the end?"""
    return bool(attacks.tried) and all(what.endswith("attempts") for _, what in attacks.tried)


def prove(folder: Path, case: Mapping[str, Any], *, may_be_told_by_text: bool = False) -> None:
    """The hole of a pair is proven, and its twin is attacked and is not. ``may_be_told_by_text``: of a twin
    whose text says already that nothing is to be attacked.
    """
    common = any("require(" in text for text in case["base"].values())
    module = {"name": "shop", "private": True, "type": "commonjs" if common else "module"}
    base = {"package.json": json.dumps(module), **case["base"]}
    for kind in ("hole", "twin"):
        place = folder / kind
        place.mkdir()
        attacks = attacked(place, base, case[kind], *case["packages"].split())
        told = {weakness for weakness, _ in proven(attacks)}
        assert told == ({case["weakness"]} if kind == "hole" else set())
        assert was_attacked(attacks) or (kind == "twin" and may_be_told_by_text)


def _laid(modules: Path) -> dict[str, str]:
    found = {}
    for path in modules.rglob("*"):
        if path.is_file() and path.suffix in (".js", ".json", ".cjs", ".mjs"):
            found[f"node_modules/{path.relative_to(modules)}"] = path.read_text("utf-8", "replace")
    return found
