"""The wheel as a stranger meets it: built, installed in an empty environment, used outside of the tree.

``scripts/wheel.py [--python PYTHON ...] [--extra NAME ...]``. Every interpreter gets an environment of its
own, with the wheel and what an index gives for it; then gate judges a small change there. Exit code 1 where
one fails. An interpreter that is not on this machine is taken from a system of Debian packages where gate can
make one (bubblewrap, mmdebstrap); else it is told and skipped, unless none is left.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gate.errors import InconclusiveError
from gate.sandbox.images import debian, system_root

ROOT: Final = Path(__file__).resolve().parents[1]
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")


class FailedError(Exception):
    """The installed program did not do what it should."""


def _expect(fact: bool, otherwise: str) -> None:
    if not fact:
        raise FailedError(otherwise)


def interpreter(version: str) -> str | None:
    """The path of a Python of that version (or the path that was given); None where there is none."""
    words = ["uv", "python", "find", "--no-project", "--offline", version]
    uv = Path(sys.executable).with_name("uv")
    words[0] = str(uv) if uv.exists() else "uv"
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
    return done.stdout.strip() if done.returncode == 0 else None


def system(version: str) -> Path | None:
    """A system of Debian packages with that Python, made where it is missing; None where that cannot be."""
    if version not in debian.PYTHONS or shutil.which("bwrap") is None:
        return None
    try:
        return system_root.ensure(version, print)
    except InconclusiveError:
        return None


def within(root: Path, folder: Path) -> list[str]:
    """What runs a command with the programs of ``root``: this machine's network and ``folder``, nothing else
    of it.
    """
    words = ["bwrap", "--die-with-parent", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108
    for part in root.iterdir():  # links to /usr, and real folders
        shown = ["--symlink", str(part.readlink())] if part.is_symlink() else ["--ro-bind", str(part)]
        words += [*shown, f"/{part.name}"]
    return [*words, "--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf", "--bind", str(folder), str(folder)]


def built(folder: Path) -> Path:
    """The wheel of this tree."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)], check=True
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def use(gate: Path, folder: Path, inside: Sequence[str] = ()) -> None:
    """Judge a change with nothing of this tree in reach; ``inside``: what every command is given to. Raises
    FailedError.
    """
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}
    repo = folder / "repo"
    repo.mkdir()

    def run(*words: str, codes: tuple[int, ...] = (0,)) -> str:
        words = (*inside, *(("--chdir", str(repo)) if inside else ()), *words)
        done = subprocess.run(words, cwd=repo, env=clean, capture_output=True, text=True, check=False)
        _expect(
            done.returncode in codes, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return done.stdout

    run("git", "init", "-q", "-b", "main")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    (repo / "shop.py").write_text("def total(prices):\n    return sum(prices)\n")
    run("git", "add", ".")
    run("git", *who, "commit", "-qm", "Prices")
    (repo / "shop.py").write_text("def total(prices):\n    return eval('+'.join(prices))\n")
    _expect(run(str(gate), "--version").startswith("gate "), "gate --version")
    _expect("py.dynamic-code" in run(str(gate), "rules"), "gate rules")
    run(
        str(gate), "check", "--worktree", "--no-sandbox", "--json", "r.json", "--html", "r.html", codes=(0, 1)
    )
    report = json.loads((repo / "r.json").read_text())
    _expect(any(finding["line"] == 2 for finding in report["findings"]), str(report["findings"]))
    blind = [s for s in report["stages"] if s["outcome"] in ("failed", "degraded")]
    _expect(not blind, str(blind))
    _expect((repo / "r.html").stat().st_size > 10_000, "the page is empty")
    run(str(gate), "init", "--forge", "github")
    _expect((repo / ".github" / "workflows").is_dir(), "gate init wrote no workflow")


def tried(version: str, python: str, wheel: Path, extras: str, root: Path | None = None) -> str:
    """What came of one interpreter, in a line. ``root``: whose it is. Raises where it fails."""
    with tempfile.TemporaryDirectory(prefix="gate-wheel-") as name:
        folder = Path(name)
        env = folder / "env"
        uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv"
        inside: list[str] = []
        there = {**os.environ}
        if root is not None:
            inside, there = within(root, folder), _moved(folder)
            uv, wheel = shutil.copy(uv, folder), Path(shutil.copy(wheel, folder))
        words = [*inside, uv, "venv", "-q", "--python", python, str(env)]
        subprocess.run(words, check=True, cwd=name, env=there)
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        words = [*inside, uv, "pip", "install", "-q", "--python", str(env / "bin" / "python"), wanted]
        subprocess.run(words, check=True, cwd=name, env=there)
        use(env / "bin" / "gate", folder, inside)
        size = sum(f.stat().st_size for f in env.rglob("*") if f.is_file() and not f.is_symlink())
        count = len([*env.glob("lib/python*/site-packages/*.dist-info")])
    where = " (of Debian packages)" if root is not None else ""
    return f"wheel: Python {version}{where}: installed and used; {count} packages, {size / 1e6:.0f} MB"


def _moved(folder: Path) -> dict[str, str]:
    """The environment, with the certificates that it names (a company's proxy) where ``folder`` is."""
    there = {**os.environ, "HOME": str(folder), "UV_CACHE_DIR": str(folder / "cache"), "UV_LINK_MODE": "copy"}
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT"):
        if name in there and Path(there[name]).is_file():
            there[name] = shutil.copy(there[name], folder / f"{name}.pem")
    there.pop("SSL_CERT_DIR", None)
    return there


def main(argv: list[str]) -> int:
    """Build once, try everywhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", metavar="VERSION", help=f"default: {', '.join(PYTHONS)}")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="this one (default: of this tree)")
    parser.add_argument("--extra", action="append", default=[], metavar="NAME", help="extras to install, too")
    arguments = parser.parse_args(argv)
    used = failed = 0
    with tempfile.TemporaryDirectory(prefix="gate-wheel-") as name:
        wheel = arguments.wheel.resolve() if arguments.wheel else built(Path(name))
        for version in arguments.python or PYTHONS:
            python, root = interpreter(version), None
            if python is None and (root := system(version)) is not None:
                python = f"/usr/bin/python{version}"
            if python is None:
                print(f"wheel: Python {version}: not on this machine, skipped")
                continue
            used += 1
            try:
                print(tried(version, python, wheel, ",".join(arguments.extra), root), flush=True)
            except (FailedError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"wheel: Python {version}: FAILED: {error}", flush=True)
    return 1 if failed or not used else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
