"""What one file does that makes other lines mean something else."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["pattern", "identity", "kept", "name", "promise"]


class Meaning(msgspec.Struct, frozen=True):
    """One such thing. ``name``: the pattern, the mapping, the function, or the name that is taken. ``text``:
    what is said of it. ``asks``: for a name, where it holds (a name space of PHP); ``export``: other modules
    may ask the pattern. ``uses``: how often the file uses the name outside of what takes it.
    """

    kind: Kind
    name: str
    line: int
    text: str = ""
    asks: str = ""
    uses: int = 0
