"""What a name stands for: every scope's meaning counts, and plain assignments are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.languages.sensitive_calls.reading import read_sources
from gate.model.sensitive import SourceText

ANY_TOO = "def g():\n    from typing import Any as subprocess\n"
PATH_TOO = "exports.g = () => { const c = require('path'); return c.sep; };\n"
HIDDEN = {
    "an import in another function hides nothing": (
        "a.py",
        "import subprocess\ndef f(c):\n    subprocess.run(c)\n" + ANY_TOO,
        3,
    ),
    "assigned": ("a.py", "import shutil\n_drop = shutil.rmtree\ndef f(c):\n    _drop(c)\n", 4),
    "assigned twice over": ("a.py", "import os as _o\n_t = _o\ndef f(c):\n    _t.system(c)\n", 4),
    "kept in an attribute": (
        "a.py",
        "import os\nclass A:\n    run = os.system\n\nA.run = os.system\nA.run('x')\n",
        6,
    ),
    "a default": ("a.py", "import os\ndef f(c, run=os.system):\n    run(c)\n", 3),
    "a walrus": ("a.py", "import os\nif run := os.system:\n    run('x')\n", 3),
    "wide letters as an alias": ("a.py", "import subprocess as \uff53\uff50\n\uff53\uff50.run(['x'])\n", 2),
    "JavaScript, another scope": (
        "a.js",
        "const c = require('child_process');\nexports.f = (x) => c.execSync(x);\n" + PATH_TOO,
        2,
    ),
    "JavaScript, assigned": ("a.js", "const fs = require('fs');\nconst drop = fs.rmSync;\ndrop(x);\n", 3),
    "TypeScript, assigned": (
        "a.ts",
        "import { execSync as e } from 'child_process';\nconst q = e;\nq(x);\n",
        3,
    ),
}
PLAIN = {
    "an alias of what is harmless": "x = config.url\ny = x\ndef run(cmd=None):\n    return cmd\nrun(y)\n",
    "a name of its own": "model = self.model\nmodel.eval()\n",
    "rebound to something harmless only": "from app import shell as subprocess\nsubprocess.run(1)\n",
    "a circle": "a = b\nb = a\na.system()\n",
}


def _lines(path: str, text: str, folder: Path) -> set[int]:
    read = read_sources([SourceText(path=path, text=text.encode())], scratch=folder, deadline=30)
    return {call.first for call in read[path].calls}


@pytest.mark.parametrize("case", sorted(HIDDEN))
def test_a_name_has_all_its_meanings(case: str, tmp_path: Path) -> None:
    path, text, line = HIDDEN[case]
    assert line in _lines(path, text, tmp_path)


@pytest.mark.parametrize("case", sorted(PLAIN))
def test_no_meaning_is_made_up(case: str, tmp_path: Path) -> None:
    assert _lines("a.py", PLAIN[case], tmp_path) == set()
