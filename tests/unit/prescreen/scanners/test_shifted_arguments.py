"""Parameters that were put before others, with callers that stayed, and with callers that came along."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.shifted_arguments import ShiftedArguments
from tests.prescreen_support import make_request

Files = dict[str, str]


def told(base: Files, head: Files) -> list[str]:
    found = ShiftedArguments().scan(make_request(head, base)).findings
    return [f"{f.evidence['was']}>{f.evidence['now']}" for f in found]


OLD, NEW = "def put(b, item, queue=TRY):\n    pass\n", "def put(b, item, channel='a', queue=TRY):\n    pass\n"
CALLER = "from app.queues import put\n\n\ndef pay(b, x):\n    return put(b, x, BANK)\n"


def test_callers_that_stayed() -> None:
    base = {"app/queues.py": OLD, "app/bank.py": CALLER}
    assert told(base, base | {"app/queues.py": NEW}) == ["queue>channel"]
    module = {"app/bank.py": "from app import queues\nqueues.put(1, 2, BANK)\n"}
    assert told(base | module, base | module | {"app/queues.py": NEW}) == ["queue>channel"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("src/a.js", "function put(b, queue = 1) {}\nput(x, BANK);\n",
         "function put(b, kind = 0, queue = 1) {}\nput(x, BANK);\n"),
        ("src/a.ts", "const put = (b: B, queue = 1) => 1;\nput(x, BANK);\n",
         "const put = (b: B, kind?: string, queue = 1) => 1;\nput(x, BANK);\n"),
        ("a.rb", "def put(b, queue = 1)\nend\nput(x, BANK)\n",
         "def put(b, kind = 0, queue = 1)\nend\nput(x, BANK)\n"),
        ("a.php", "<?php\nfunction put($b, $queue = 1) {}\nput($x, BANK);\n",
         "<?php\nfunction put($b, $kind = 0, $queue = 1) {}\nput($x, BANK);\n"),
        ("a.py", "class A:\n    def put(self, queue):\n        self.put(B)\n",
         "class A:\n    def put(self, kind, queue=1):\n        self.put(B)\n"),
    ],
)  # fmt: skip
def test_other_languages(path: str, old: str, new: str) -> None:
    assert told({path: old}, {path: new}) == ["queue>kind"]


@pytest.mark.parametrize("mark", ["@dataclass\nclass Share:\n", "class Share(NamedTuple):\n"])
def test_fields_of_a_data_class(mark: str) -> None:
    old, new = f"{mark}    venue: int\n    artist: int\n", f"{mark}    artist: int\n    venue: int\n"
    call = "\n\nx = Share(1, 2)\n"
    assert told({"a.py": old + call}, {"a.py": new + call}) == ["venue>artist"]
    assert told({"a.py": old}, {"a.py": new}) == []
    last = f"{old}    agency: int = 0\n"
    assert told({"a.py": old + call}, {"a.py": last + call}) == []


@pytest.mark.parametrize(
    "head",
    [
        {"app/queues.py": "def put(b, item, queue=TRY, channel='a'):\n    pass\n"},  # behind the others
        {"app/queues.py": "def put(b, item, *, queue=TRY):\n    pass\n"},  # by name only: a call fails
        {"app/queues.py": "def put(b, item, target=TRY):\n    pass\n"},  # another name at the same place
        {"app/queues.py": NEW, "app/bank.py": CALLER.replace("x, BANK", "x, 'api', BANK")},
        {"app/queues.py": NEW, "app/bank.py": CALLER.replace("x, BANK", "x, queue=BANK")},
        {"app/queues.py": NEW, "app/bank.py": "from other import put\nput(1, 2, BANK)\n"},
    ],
)
def test_what_is_in_order(head: Files) -> None:
    base = {"app/queues.py": OLD, "app/bank.py": CALLER}
    assert told(base, base | head) == []


def test_two_of_one_name_are_nobodys() -> None:
    both = (
        "class Param {\n  static setValue(param, value) { return param.setValue(value); }\n"
        "  setValue(value) { this.value = value; }\n  apply() { this.setValue(this.pending); }\n%s}\n"
    )
    assert told({"src/a.js": both % ""}, {"src/a.js": both % "  more() {}\n"}) == []
