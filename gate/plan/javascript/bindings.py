"""What names stand for in JavaScript and TypeScript: through ``import``, ``require``, taking apart, aliases.

What a name is that comes from elsewhere (a parameter, a key made at run time) nobody follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.languages.javascript import Word
from gate.regex import regex

_EVERYWHERE: Final = regex(r"^(?:(?:globalThis|window|self|global)\.)+(?=.)")
_GIVES_MODULE: Final = regex(r"(?:.+\.)?(?:require|requireActual|getBuiltinModule|_load)|import")
_GIVES_SAME: Final = regex(r"(?:.+\.)?promisify")
_GIVES_REQUIRE: Final = regex(r"(?:.+\.)?createRequire")
_STEPS: Final = 40
_NESTED: Final = 6
_MOST: Final = 4000
_ROOM: Final = 800_000
_LONGEST: Final = 400
"""Characters of a name that is worth to be known."""
_FAR: Final = 400
"""Words: the most that an import names, and the widest brackets that are looked into for a name."""


class Names:
    """One text's words; ``known`` is what its names stand for, learnt on the way through.

    ``bare``: they are ``bare_words``, with those of comments and texts among them.
    """

    def __init__(self, said: list[Word], bare: bool = False) -> None:
        self.words = said
        self.bare = bare
        self.known: dict[str, str] = {}
        self.loaded: set[str] = set()
        self.room = _ROOM
        self.closing = _pairs(said)

    def named(self, at: int, nested: int = 0) -> tuple[str, int]:
        """The full name of the expression that begins here, and the index behind it; "" for none."""
        for _ in range(_NESTED):
            if not self.has(at, "await", "new"):
                break
            at += 1
        name, end = "", at
        if self.has(at, "(") and nested < _NESTED:
            name, end = self._within(at, nested)
        elif self.kind(at) == "name":
            name, end = self.known.get(self.words[at].value, self.words[at].value), at + 1
        for _ in range(_STEPS if name else 0):
            given, behind = self._given(name, end, nested)
            if given:
                name, end = given, behind
                continue
            step = self._step(end)
            if step is None:
                break
            name, end = f"{name}.{step[0]}", step[1]
        return _EVERYWHERE.sub("", name.replace(".default", "")), end

    def _within(self, at: int, nested: int) -> tuple[str, int]:
        """``(await import("x"))``, ``(0, x.exec)``, ``(globalThis as any)``: what is in the brackets."""
        close = self.closing.get(at, 0)
        if not 0 < close - at < _FAR:
            return "", at
        inner = at + 1
        if self.kind(inner) == "number" and self.has(inner + 1, ","):
            inner += 2
        name, end = self.named(inner, nested + 1)
        whole = end == close or self.has(end, "as", "!", "satisfies")
        return (name, close + 1) if whole else ("", at)

    def _given(self, name: str, end: int, nested: int) -> tuple[str, int]:
        """What a call gives that loads a module or wraps a function: its name, and the index behind it."""
        if not self.has(end, "(") or end not in self.closing:
            return "", end
        behind = self.closing[end] + 1
        if _GIVES_MODULE.fullmatch(name) and self.kind(end + 1) in ("text", "template"):
            module, stop = self._joined(end + 1)
            whole = stop == behind - 1 or self.has(stop, ",", "as") or module.startswith(".")
            if whole:
                self.loaded.add(module_name(module))
            return (module_name(module), behind) if whole else ("", end)
        if _GIVES_REQUIRE.fullmatch(name):
            return "require", behind
        if _GIVES_SAME.fullmatch(name) and nested < _NESTED:
            return self.named(end + 1, nested + 1)[0], behind
        return "", end

    def _step(self, at: int) -> tuple[str, int] | None:
        """``.name``, ``?.name``, ``["name"]``, ``!.name``."""
        if self.has(at, "!") and self.has(at + 1, ".", "["):
            at += 1
        if self.has(at, ".", "?.") and self.kind(at + 1) == "name":
            return self.words[at + 1].value, at + 2
        at += 1 if self.has(at, "?.") else 0
        if self.has(at, "[") and self.kind(at + 1) in ("text", "template"):
            key, stop = self._joined(at + 1)
            return (key, stop + 1) if self.has(stop, "]") else None
        return None

    def _joined(self, at: int) -> tuple[str, int]:
        """What ``"a" + "b"`` or `` `a${"b"}` `` says from here on, and the index behind it."""
        said = self.words[at].value
        for _ in range(_STEPS):
            follows = at + 2 if self.has(at + 1, "+") else at + 1
            if self.kind(follows) not in ("text", "template"):
                break
            said, at = said + self.words[follows].value, follows
        return said, at + 1

    def bind(self, at: int, name: str, end: int) -> None:
        """Learn from ``x = name``, ``const { a, b: c } = name``; what a call gives is not its name."""
        if self.has(at, "import") and name.endswith(".then") and self.has(end, "("):
            self._bind_parameter(end + 1, name.removesuffix(".then"))
        at -= 1 if self.has(at - 1, "await") else 0
        if not self.has(at - 1, "=") or self.has(end, "("):
            return
        target = at - 2
        if self.has(target, "}"):
            for key, bound in self._taken_apart(target):
                self._learn(bound, f"{name}.{key}")
        elif self.kind(target) == "name" and not self.has(target - 1, "."):
            self._learn(self.words[target].value, name)

    def _bind_parameter(self, at: int, module: str) -> None:
        """``m => ...``, ``({ a, b: c }) => ...``, ``function (m) {``: what gets an ``import(...)``."""
        for _ in range(3):
            at += 1 if self.has(at, "async", "function", "(") else 0
        if self.kind(at) == "name":
            self._learn(self.words[at].value, module)
        if not self.has(at, "{"):
            return
        for close in range(at, min(at + self._reach(), len(self.words))):
            if self.has(close, "}"):
                for key, bound in self._taken_apart(close):
                    self._learn(bound, f"{module}.{key}")
                return

    def _taken_apart(self, close: int) -> Iterator[tuple[str, str]]:
        """``{ a, b: c, d = 1 }`` that ends here: keys, and the names they are bound to."""
        part: list[Word] = []
        for at in range(close - 1, max(-1, close - self._reach()), -1):
            if not self.has(at, ",", "{"):
                part.append(self.words[at])
                continue
            named = [word.value for word in reversed(part) if word.kind in ("name", "text")]
            part = []
            if named:
                yield named[0], named[1] if len(named) > 1 else named[0]
            if self.has(at, "{"):
                return

    def imports(self, at: int) -> None:
        """``import a, { b as c } from "x"``, ``import * as d from "x"``."""
        names: list[str] = []
        for n in range(at + 1, min(at + self._reach(), len(self.words))):
            word = self.words[n]
            if word.kind == "text":
                self._imported(names, module_name(word.value))
                return
            if word.value in (";", "=", "(", ".", "import"):
                return
            names.append(word.value)

    def _imported(self, names: list[str], module: str) -> None:
        """Bind what stands between ``import`` and its address."""
        self.loaded.add(module)
        inside = False
        for n, name in enumerate(names):
            if name in ("{", "}"):
                inside = name == "{"
            elif name not in (",", "from", "as", "*", "type") and names[n + 1 : n + 2] != ["as"]:
                renamed = n > 1 and names[n - 1] == "as" and names[n - 2] != "*"
                key = names[n - 2] if renamed else name
                self._learn(name, f"{module}.{key}" if inside else module)

    def _reach(self) -> int:
        """How many words may be looked at for one binding: in all so many that a whole text stays quick."""
        self.room -= _FAR
        return _FAR if self.room > 0 else 0

    def _learn(self, bound: str, name: str) -> None:
        if bound != name and len(self.known) < _MOST and len(name) <= _LONGEST:
            self.known[bound] = name.replace(".default", "")

    def has(self, at: int, *values: str) -> bool:
        """Is the word there one of these, and no text?"""
        if not 0 <= at < len(self.words):
            return False
        return self.words[at].kind in ("mark", "name") and self.words[at].value in values

    def is_loaded(self, package: str) -> bool:
        """Does the text load it, or more than is known?"""
        return package in self.loaded or self.room <= 0

    def is_member(self, at: int) -> bool:
        """Does the word there follow a dot? Among bare words the dot of a line above may be a sentence's."""
        if self.bare and at and self.words[at - 1].line != self.words[at].line:
            return False
        return self.has(at - 1, ".", "?.")

    def kind(self, at: int) -> str:
        """The kind of the word there, "" beyond the ends."""
        return self.words[at].kind if 0 <= at < len(self.words) else ""


def module_name(said: str) -> str:
    """``node:fs/promises`` is ``fs.promises``; a compiled module is ``native.node``."""
    name = re.sub(r"^(fs|dns|child_process)/promises$", r"\1.promises", said.removeprefix("node:"))
    return "native.node" if name.endswith(".node") else name


def _pairs(said: list[Word]) -> dict[int, int]:
    """Where each round bracket closes."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for at, word in enumerate(said):
        if word.kind == "mark" and word.value == "(":
            opened.append(at)
        elif word.kind == "mark" and word.value == ")" and opened:
            pairs[opened.pop()] = at
    return pairs
