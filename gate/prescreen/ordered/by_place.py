"""Does the project read this by its place, or keep the number of that? Texts of head are searched for it.

What nobody reads by place may stand in any order: sorting it is no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.regex import regex

_PLACES: Final = (
    r"\b{n}\s*\[\s*(?:-?\d+|[a-z_]\w*)\s*\]",
    r"\bzip\w*\b[^\n]{{0,80}}\b{n}\b",
    r"\b{n}\b[^\n]{{0,40}}\.zip\b",
    r"\b{n}\s*\.\s*(?:first|last|index|indexOf|IndexOf|find_index|each_with_index|entries|get|at|nth)\b",
    r"\benumerate\(\s*(?:\w+\.)*{n}\b",
    (
        r"^\s*(?:(?:const|let|var|val)\s*)?[\[(]?\s*\w+(?:\s*,\s*\w+)+\s*[\])]?\s*:?="
        r"\s*\*?(?:[\w$]+\.)*{n}\s*;?\s*$"
    ),
    r"\bswitch\b[^\n]{{0,40}}\b{n}\.index",
)
_STORED: Final = {
    ".go": (
        r"\b{n}\([a-z]\w*(?:\.\w+|\[\w+\])*\)"
        r"|\b{n}\b\s*`[^`\n]*\b(?:json|db|gorm|bson|yaml|xml|msgpack|cbor|toml):"
    ),
    ".java": (
        r"\.ordinal\(\)|\b{n}\.values\(\)\s*\["
        r"|@Enumerated(?!\s*\(\s*(?:value\s*=\s*)?(?:EnumType\.)?STRING)"
    ),
    ".cs": (
        r"\(\s*{n}\s*\)\s*\w|\(\s*(?:int|byte|short|long|uint)\s*\)\s*\w|Enum\.ToObject|DbSet<"
        r"|\[ProtoMember"
    ),
    ".ts": r"\b{n}\[\s*\w|\bas\s+{n}\b|@Column\(|JSON\.(?:stringify|parse)",
    ".rs": (
        r"\b{n}::\w+\s+as\s+[ui](?:8|16|32|64|size)|\bself\s+as\s+[ui](?:8|16|32|64|size)|_repr\b|bincode"
        r"|postcard|borsh|rkyv|sqlx::Type"
    ),
    ".py": r"(?<!class )\b{n}\(\s*(?:int\()?\w*[a-z]\w*|\.value\b|IntegerField|struct\.pack",
}
"""What keeps or reads numbers, by language; ``{n}`` is the enum's name."""
_TEXTS: Final = {
    ".go": r"func\s*\(\s*\w*\s*\*?{n}\s*\)\s*(?:MarshalJSON|MarshalText|Value)\b",
    ".cs": r"JsonStringEnumConverter|HasConversion<string>",
}
"""What says that the names are kept, not the numbers."""
_FAMILY: Final = {".kt": ".java", ".tsx": ".ts", ".mts": ".ts", ".cts": ".ts"}
_COLUMN: Final = regex(r"\b(?:row|line|record|cols?|columns?|fields?|cells?|parts|r|rec)\s*\[\s*\d+\s*\]")
_GIVEN_A_NAME: Final = regex(
    r"^\s*(?:(?:const|let|var|val|static|final|public|private|export)\s+)*(?:[\w<>\[\]]+\s+)?"
    r"([A-Za-z_$@]\w*)\s*(?::[^=\n]{1,40})?:?=[^=]"
)


def is_read_by_place(name: str, texts: Sequence[str]) -> bool:
    """Does some text take the list of this name apart by places?"""
    if len(name) < 3:
        return False
    patterns = [re.compile(one.format(n=re.escape(name)), re.MULTILINE) for one in _PLACES]
    return any(name in text and any(one.search(text) for one in patterns) for text in texts)


def is_unpacked(name: str, texts: Sequence[str]) -> bool:
    """Does a caller take apart what the function of this name gives back: ``a, b = split(x)``?"""
    word = re.escape(name)
    pattern = re.compile(
        rf"^\s*(?:(?:const|let|var|val)\s*)?[\[(]?\s*\w+\s*,\s*\w+[^=\n(]{{0,60}}:?=[^=\n]{{0,60}}\b{word}\(",
        re.MULTILINE,
    )
    return len(name) > 2 and any(name in text and pattern.search(text) for text in texts)


def numbers_taken(name: str, texts: Sequence[str]) -> set[int]:
    """The places of the list of this name that the texts write down: ``NAMES[2]``."""
    pattern = re.compile(rf"\b{re.escape(name)}\s*\[\s*(\d{{1,4}})\s*\]")
    return {int(one) for text in texts if name in text for one in pattern.findall(text)}


def names_given(file: str, texts: Sequence[str]) -> Iterator[str]:
    """What programs call the content of a file that they read: ``PARTIES = readlines("parties.txt")``."""
    base = PurePosixPath(file).name
    for text in texts:
        if base not in text:
            continue
        for line in text.split("\n"):
            if base in line and (match := _GIVEN_A_NAME.match(line)):
                yield match[1].lstrip("$@")


def has_columns_by_number(file: str, texts: Sequence[str]) -> bool:
    """Does a program that names the table take its columns by number?"""
    base = PurePosixPath(file).name
    return any(base in text and _COLUMN.search(text) for text in texts)


def is_number_kept(name: str, path: str, texts: Sequence[str]) -> bool:
    """Is the number of the enum's members kept, sent, or read from elsewhere?"""
    suffix = PurePosixPath(path).suffix
    suffix = _FAMILY.get(suffix, suffix)
    if not _STORED.get(suffix) or len(name) < 2:
        return False
    word = re.escape(name)
    some = [text for text in texts if re.search(rf"\b{word}\b", text)]
    by_name = _TEXTS.get(suffix)
    if by_name and any(re.search(by_name.format(n=word), text) for text in texts):
        return False
    return any(re.search(_STORED[suffix].format(n=word), text) for text in some)
