"""Runs the in-sandbox driver for real on harmless trees, with the socket the launcher would give it."""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.paths import REPOSITORY

PATH = "/usr/local/bin:/usr/bin:/bin"
DRIVER = REPOSITORY / "gate" / "inside" / "driver"


@dataclass(frozen=True, kw_only=True)
class Driven:
    """``report`` is what came over the socket, ``done`` whether the closing word did."""

    report: dict[str, Any]
    done: bool
    code: int
    stdout: str
    stderr: str

    @property
    def item(self) -> dict[str, Any]:
        """The only item's result."""
        (item,) = self.report["items"]
        assert isinstance(item, dict)
        return item

    @property
    def calls(self) -> dict[str, str]:
        """Outcomes by name."""
        return dict(self.item.get("calls", []))


def lay_tree(root: Path, files: dict[str, str]) -> Path:
    """Write files below ``root``; sources are dedented."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))
    return root


def drive(
    tree: Path,
    job: dict[str, Any],
    *,
    python: tuple[str, ...] = (sys.executable,),
    seconds: float = 60,
    dependencies: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Driven:
    """Run one job in ``tree``, in a process with nothing of our environment but what is given.
    ``dependencies``: a layer.
    """
    _compile()
    ours, theirs = socket.socketpair()
    home = tree.parent / "home"
    home.mkdir(exist_ok=True)
    with ours, theirs:
        child = subprocess.Popen(
            [*python, str(DRIVER / "main.py"), json.dumps({"seconds": 20, **job})],
            cwd=tree,
            env={
                "PATH": PATH,
                "HOME": str(home),
                "LC_ALL": "C.UTF-8",
                **(environment or {}),
                "PYTHONDONTWRITEBYTECODE": "1",
                "GATE_DRIVER_FD": str(theirs.fileno()),
                **({"GATE_DEPS": str(dependencies)} if dependencies else {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        said = bytearray()
        ours.settimeout(seconds)
        while chunk := ours.recv(65536):
            said += chunk
        child.wait(timeout=seconds)
        _end_leftovers(tree)  # as the launcher does
        stdout, stderr = child.communicate(timeout=seconds)
    lines = said.decode("ascii").splitlines()
    return Driven(
        report=json.loads(lines[0])["report"] if lines else {},
        done=lines[1:] == ["done"],
        code=child.returncode,
        stdout=os.fsdecode(stdout),
        stderr=os.fsdecode(stderr),
    )


@cache
def _compile() -> None:
    """As the images do: else each of hundreds of drivers compiles itself."""
    compileall.compile_dir(DRIVER, quiet=2)


def imported(tree: Path, module: str, calls: list[str] | None = None, **options: Any) -> Driven:
    """Import one module and call names of it."""
    item: dict[str, Any] = {"do": "import", "module": module, "path": module.replace(".", "/") + ".py"}
    if not (tree / item["path"]).exists():
        item["path"] = module.replace(".", "/") + "/__init__.py"
    if calls:
        item["calls"] = calls
    return drive(tree, {"items": [item], **options})


def _end_leftovers(tree: Path) -> None:
    """Kill processes that still run in the tree: children of this one driver that time ran out for."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "cwd").readlink() == tree:
                    os.kill(int(entry.name), signal.SIGKILL)
