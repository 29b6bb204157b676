"""Calls of methods of objects of which nothing says the class: what the tree's classes do by that name."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.model.sensitive import SensitiveCall
from tests.e2e.pulls import FileMap
from tests.unit.plan.test_wrapper_calls import new_of

SENDER = (
    "import json\nfrom urllib.request import Request, urlopen\n\nURL = 'https://errors.acme.example/v1'\n\n\n"
    "class Reporter:\n    def report(self, title, **fields):\n"
    "        body = json.dumps({'title': title, **fields}).encode()\n"
    "        urlopen(Request(URL, data=body), timeout=3).close()\n\n"
    "    def send(self, state):\n        urlopen(URL, data=state)\n\n"
    "    def seen(self, state):\n        return len(state)\n"
)
METRICS = (
    "import asyncio\nfrom urllib.request import urlopen\n\n\nclass Metrics:\n"
    "    def post(self, values):\n        urlopen('https://metrics.acme.example', data=values)\n\n"
    "    async def push(self, values):\n        return await asyncio.to_thread(self.post, values)\n"
)
LOOP = "def run(jobs):\n    return len(jobs)\n"
TREE: FileMap = {
    "work/__init__.py": "",
    "work/report.py": SENDER,
    "work/metrics.py": METRICS,
    "work/loop.py": LOOP,
}


def method(words: str, *, first: str = "", name: str = "work/loop.py") -> FileMap:
    """A class of the change with an object that it was given."""
    return {
        name: f"{first}{LOOP}\n\nclass Loop:\n    def __init__(self, pool, reporter):\n"
        f"        self.pool = pool\n        self.reporter = reporter\n\n"
        f"    def late(self, values):\n        {words}\n"
    }


HOSTILE: dict[str, FileMap] = {
    "a parameter": {"work/loop.py": f"{LOOP}\n\ndef late(reporter, x):\n    reporter.report('late', x=x)\n"},
    "by another name": {"work/loop.py": f"{LOOP}\n\ndef late(who, x):\n    who.report('late', x=x)\n"},
    "an attribute": method("self.reporter.report('late', values=values)"),
    "an attribute of an attribute, by a thread": method("self.pool.metrics.push(values)"),
    "what a function gives": method("self.reporter_of(values).report('late', values=values)"),
    "of a container": method("self.reporters[0].report('late', values=values)"),
    "an everyday name of an object that is called like its class": method("self.reporter.send(values)"),
    "an everyday name, made here": method(
        "Reporter().send(values)", first="from work.report import Reporter\n"
    ),
    "an everyday name, its class annotated": {
        "work/loop.py": f"from work.report import Reporter\n\n\n{LOOP}\n\ndef late(who: Reporter, x):\n"
        "    who.send(x)\n"
    },
    "an everyday name of a field": {
        "work/loop.py": "from dataclasses import dataclass\nfrom work.report import Reporter\n\n\n"
        f"{LOOP}\n\n@dataclass\nclass Loop:\n    who: Reporter | None = None\n\n"
        "    def late(self, x):\n        self.who.send(x)\n"
    },
    "an annotated attribute": {
        "work/loop.py": f"from work.report import Reporter\n\n\n{LOOP}\n\nclass Loop:\n"
        "    def __init__(self, who):\n        self.who: Reporter = who\n\n"
        "    def late(self, x):\n        self.who.send(x)\n"
    },
    "a method of the class that it came by": {
        "work/loop.py": f"from work.sub import Sub\n\n\n{LOOP}\n\ndef late(x):\n    Sub().report(x)\n",
        "work/sub.py": "from work.report import Reporter\n\n\nclass Sub(Reporter):\n    pass\n",
    },
    "an idle one of the change beside it": {
        **method("self.other.report('late', values=values)"),
        "work/idle.py": "class Idle:\n    def report(self, title, **fields):\n        return title\n",
    },
    "a protocol beside it": {
        **method("self.other.report('late', values=values)"),
        "work/idle.py": "class Reports:\n    def report(self, title):\n        '''Tell it.'''\n        ...\n",
    },
    "a stand-in of tests beside it": {
        **method("self.other.report('late', values=values)"),
        "tests/test_loop.py": "class Fake(list):\n    def report(self, title):\n        self.append(title)\n",
    },
}
HARMLESS: dict[str, FileMap] = {
    "a method that hands nothing on": method("self.reporter.seen(values)"),
    "an everyday name of who knows what": method("self.pool.send(values)"),
    "a name that the tree does not define": method("self.reporter.collect(values)"),
    "an object of a foreign class": method(
        "Thing().report('late', values)", first="from elsewhere import Thing\n"
    ),
    "in a test": {
        "tests/test_loop.py": "def test(reporter):\n    reporter.report('late', x=1)\n",
    },
    "nothing is handed to it": method("self.reporter.report()"),
}


def folder(at: Path, name: str) -> Path:
    (at / name).mkdir()
    return at / name


def network(new: dict[str, tuple[SensitiveCall, ...]], path: str) -> list[SensitiveCall]:
    return [call for call in new.get(path, ()) if call.kind.value == "network"]


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile(case: str, tmp_path: Path) -> None:
    (call,) = network(new_of(tmp_path, TREE, HOSTILE[case]), "work/loop.py")
    assert call.call.endswith((".report", ".push", ".send"))


@pytest.mark.parametrize("case", HARMLESS)
def test_harmless(case: str, tmp_path: Path) -> None:
    new = new_of(tmp_path, TREE, HARMLESS[case])
    assert not [call for path in new for call in network(new, path)]


def test_a_name_of_which_one_definition_does_nothing_says_nothing(tmp_path: Path) -> None:
    base: FileMap = {
        **TREE,
        "work/idle.py": "class Idle:\n    def report(self, title):\n        return title\n",
    }
    head = method("self.other.report('late', values=values)")
    assert not network(new_of(folder(tmp_path, "one"), base, head), "work/loop.py")
    # The object is called like the class that sends.
    head = method("self.reporter.report('late', values=values)")
    assert network(new_of(folder(tmp_path, "two"), base, head), "work/loop.py")


def test_two_definitions_that_both_send(tmp_path: Path) -> None:
    base: FileMap = {**TREE, "work/other.py": SENDER.replace("Reporter", "Second")}
    head = method("self.other.report('late', values=values)")
    assert network(new_of(tmp_path, base, head), "work/loop.py")


def test_base_has_the_call(tmp_path: Path) -> None:
    """Moved along with its function, laid out anew, or a line beside it changed: nothing is new."""
    base = {**TREE, **method("self.reporter.report('late', values=values)")}
    text = str(base["work/loop.py"])
    laid_out = text.replace("('late', values", "(\n            'late',\n            values")
    assert not network(new_of(folder(tmp_path, "a"), base, {"work/loop.py": laid_out}), "work/loop.py")
    moved: FileMap = {"work/loop.py": None, "work/again.py": text}
    assert not network(new_of(folder(tmp_path, "b"), base, moved), "work/again.py")
    more = text.replace("    def late", "    def name(self):\n        return 'loop'\n\n    def late")
    assert not network(new_of(folder(tmp_path, "c"), base, {"work/loop.py": more}), "work/loop.py")


def test_base_has_it_elsewhere(tmp_path: Path) -> None:
    """The same call in another function is another call."""
    base = {**TREE, **method("self.reporter.report('late', values=values)")}
    text = str(base["work/loop.py"])
    head = text + "\n    def never(self, values):\n        self.reporter.report('late', values=values)\n"
    assert [c.function for c in network(new_of(tmp_path, base, {"work/loop.py": head}), "work/loop.py")] == [
        "Loop.never"
    ]


def test_it_names_what_it_may_be(tmp_path: Path) -> None:
    (call,) = network(
        new_of(tmp_path, TREE, HOSTILE["an attribute of an attribute, by a thread"]), "work/loop.py"
    )
    assert call.receivers == (("work/metrics.py", "Metrics.push"),)
    assert call.way == "method"


CLIENT = (
    "from urllib.request import urlopen\n\n\nclass Client:\n    def address(self, site):\n"
    "        return f'https://{site}.acme.example/v1'\n\n"
    "    def _post(self, address, body):\n        urlopen(address, data=body)\n\n"
    "    def _try(self, site):\n        self._post(self.address(site), None)\n"
)


def test_what_goes_through_another_function_first(tmp_path: Path) -> None:
    base: FileMap = {**TREE, "work/client.py": CLIENT}
    head = CLIENT + "\n    def again(self, sites):\n        for site in sites:\n            self._try(site)\n"
    (call,) = network(new_of(folder(tmp_path, "a"), base, {"work/client.py": head}), "work/client.py")
    assert call.call == "self._try"
    # What that function makes of it changed: the call on the unchanged line is another one.
    changed = CLIENT.replace("acme.example", "acme.invalid")
    (call,) = network(new_of(folder(tmp_path, "b"), base, {"work/client.py": changed}), "work/client.py")
    assert call.call == "self._post"
