"""Sensitive calls: what a line of a program can do beyond computing, as read from its text."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from gate.dataclass import dataclass

Way = Literal["call", "make", "hand", "read", "method"]


class SensitiveKind(Enum):
    """What a call can do. The value stands in reports; ``text`` completes the phrase ``can ...``."""

    PROCESS = "process"
    NETWORK = "network"
    DYNAMIC_CODE = "dynamic-code"
    NATIVE_CODE = "native-code"
    DELETION = "deletion"
    CREDENTIALS = "credentials"
    ENVIRONMENT = "environment"
    PERSISTENCE = "persistence"

    @property
    def text(self) -> str:
        """For people: ``can start a process``."""
        return _TEXT[self]


_TEXT = {
    SensitiveKind.PROCESS: "start a process",
    SensitiveKind.NETWORK: "reach the network",
    SensitiveKind.DYNAMIC_CODE: "run code that is made while running",
    SensitiveKind.NATIVE_CODE: "run native code",
    SensitiveKind.DELETION: "delete files",
    SensitiveKind.CREDENTIALS: "read credentials",
    SensitiveKind.ENVIRONMENT: "read the whole environment",
    SensitiveKind.PERSISTENCE: "arrange to be run later",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SensitiveCall:
    """One call. Lines count from 1, both ends included; columns are bytes from the line's start, the last one
    behind the call. ``call`` is the callee as written, untrusted. ``way``: it is
    called right there; it is called and makes an object (what is done with that, is a call of its own); a
    function is handed on, to be called by whoever gets it; a value is read; a method of an object of an
    unknown class is called, which does this if the object is of a class of the project.

    ``statement`` is a digest of the statement it stands in, white space, comments and quote style apart, so
    that moved, renamed or reformatted code is known again. ``function`` names the functions and classes
    around it (``Cart.pay``), ``body`` is a digest of the innermost function, or outside of any of the
    conditions and loops around it; empty where there is nothing of the kind, or nobody can say.
    """

    first: int
    last: int
    kind: SensitiveKind
    call: str
    statement: str = ""
    function: str = ""
    body: str = ""
    column: int = 0
    end_column: int = 0
    way: Way = "call"
    fed: tuple[str, ...] = ()
    """What its arguments are made from, as far as the file shows: digests of texts, dotted names."""
    looks: bool = False
    """A test's call of a helper that calls nothing of its kind: it takes a function out of what it is given
    (``getattr``) and hands that on.
    """
    receivers: tuple[tuple[str, str], ...] = ()
    """Of a call of the project's own methods: file and name (``Reporter.report``) of each that it may be."""

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Line and column of its first character and behind its last."""
        return self.first, self.column, self.last, self.end_column


HANDED_THROUGH = frozenset(
    {
        SensitiveKind.PROCESS,
        SensitiveKind.NETWORK,
        SensitiveKind.DYNAMIC_CODE,
        SensitiveKind.NATIVE_CODE,
        SensitiveKind.DELETION,
    }
)
"""Kinds for which it matters what a function is given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionReading:
    """A function that hands what it is given on: to sensitive calls (``kinds``), to other functions
    (``calls``: dotted names as imported, ``.name`` for one of the same file, ``/.folder.module.name`` by
    its place in the tree, ``*reporter.report`` for a method of an object that is called so, of whatever
    class). ``alias``: only another name for these. ``generator``: a call of it runs nothing yet, whoever goes
    through what it gives does. ``handed``: those of ``kinds`` of which it calls nothing and only hands a
    function on.
    """

    name: str
    kinds: tuple[SensitiveKind, ...] = ()
    calls: tuple[str, ...] = ()
    alias: bool = False
    generator: bool = False
    handed: tuple[SensitiveKind, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """A call of something that may be a function of the project. ``names`` as FunctionReading.calls; ``call``
    as a sensitive call would be told, its kind apart. ``here``: a test's, with this machine written out as
    the host: it reaches no network.
    """

    names: tuple[str, ...]
    call: SensitiveCall
    here: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceReading:
    """What one version of one source file says.

    ``readable`` is False where no grammar fits or the text is no program text that a person reviews
    (generated, minified, binary): ``reason`` says which. ``executable`` are the lines that hold code
    (no comment, no blank line), ascending; ``calls`` the sensitive calls in line order. Of Python also
    ``functions`` that hand on what they are given, all ``methods`` that do something (``Reporter.report``),
    ``references`` to such, and ``strings``: names at the top of a module for an address or a command.
    """

    language: str
    readable: bool = True
    reason: str = ""
    executable: tuple[int, ...] = ()
    calls: tuple[SensitiveCall, ...] = ()
    functions: tuple[FunctionReading, ...] = ()
    methods: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    strings: tuple[Reference, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceText:
    """One version of one file to be read: its path in the tree and its bytes, both untrusted. ``shell``: a
    script sources it, whatever it is called.
    """

    path: str
    text: bytes
    shell: bool = False
