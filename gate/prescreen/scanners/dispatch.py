"""Code that newly calls what a computed name says: any method, class or module instead of those of a list.

What can be called is then no longer in the text: methods that base has for tests or for operators are within
reach of whoever sends the name, and a folder that others may write to is a folder of programs.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.dispatch.read import Dispatch, is_read
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files, read_files, says_newly
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

BY_NAME: Final = rule.meta(
    "call.by-name",
    "What is called is chosen by a name that the program computes",
    severity="medium",
    confidence="medium",
    topic="exec",
    cwe=(470, 913),
    attack=("T1059", "T1129"),
    why="A function, a class or a module is looked up by a name that no list bounds. Whatever has that name "
    "can be called, also what was never meant to be: methods for tests and operators, files that others put "
    "into a folder.",
    fix="Look the name up in a table of what may be called, and refuse every other one.",
)
RULES: Final[tuple[RuleMeta, ...]] = (BY_NAME,)
_READER: Final = Reader("gate.prescreen.dispatch.read:read", list[Dispatch], parses=True, pure=True)
_SAID: Final = {
    "function": "Whichever function has the computed name is called.",
    "class": "Whichever class has the computed name is used.",
    "module": "Whichever file or module the computed name says is loaded and run.",
}
_MATTERS: Final = regex(
    rb"MethodByName|plugin\.Open|forName|loadClass|get(?:Declared)?Method\(|find(?:Virtual|Static)\(|GetType\("
    rb"|GetMethod\("
    rb"|InvokeMember|Assembly|NativeLibrary|\bsend\b|public_send|__send__|const_get|constantize|\bload\b|require"
    rb"|import\s*\("
    rb"|\]\?\.\(|\]\s*\.(?:call|apply|bind)\b|\{\s*\[|\binclude|\$\w+\(|vars\(|__dict__|sys\.modules"
    rb"|fork|Worker|importScripts|Reflect|vm\.run|\bmethod\b|attrgetter|__getattribute__|getmembers|NumMethod"
    rb"|[gG]et(?:Declared|Runtime)?Methods|getOwnPropertyNames|get_class_methods|System\.load"
    rb"|call_user_func|Reflection|new \$|->\$|->\{|::\$|getattr|import_module|__import__|methodcaller"
    rb"|globals\(\)|locate"
    rb"|import_string|resolve_name|runpy|spec_from_file|SourceFileLoader|Library::new|\]\s*\)*\(|\]\s*;?\s*$"
    rb"|invokeMethod|findMethod"
)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 3


class DispatchByName:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "dispatch"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the calls by name of all changed programs with those of base."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if _matters(one)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        base: dict[str, list[Dispatch]] = {}
        if any(head.values()):
            base = read_files(_READER, [(one.path, one.base) for one in files if one.base], until)
        had = Counter((one.what, one.call) for many in base.values() for one in many)
        loads = {(path, one.what) for path, many in base.items() for one in many}
        findings: list[Finding] = []
        for source in files:
            lines = set((source.base or b"").decode("utf-8", "replace").split("\n"))
            text = source.head.decode("utf-8", "replace").split("\n")
            fresh: list[Dispatch] = []
            for one in head.get(source.path, ()):
                is_old = (source.path, one.what) in loads or had[one.what, one.call] > 0
                if not is_old and one.line <= len(text) and text[one.line - 1] not in lines:
                    fresh.append(one)
            findings += [_finding(source, one) for one in fresh[:_MOST]]
        return ended(self.name, findings, unread)


def _matters(source: Source) -> bool:
    path = source.path
    if not is_read(path) or is_no_product(path) or is_example(path):
        return False
    return says_newly(source, _MATTERS)


def _finding(source: Source, one: Dispatch) -> Finding:
    return finding(
        BY_NAME,
        _SAID[one.what],
        Location(path=source.path, line=one.line),
        shape=f"{one.what} {one.call}",
        evidence={"name": one.name, "call": one.call},
    )
