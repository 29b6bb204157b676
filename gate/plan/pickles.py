"""Which changed data files run code when somebody loads them: pickles, told by name and by first bytes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from gate.model.change import ChangedFile, Tree

BIGGEST: Final = 64 << 20
_SNIFFED: Final = 8 << 20
"""Binary files up to this size are looked into."""
_NAMES: Final = frozenset(
    (
        *(".pkl", ".pickle", ".pck", ".pcl", ".p", ".dill", ".sav"),
        *(".joblib", ".pt", ".ckpt", ".model", ".npy", ".npz"),
    )
)
_STARTS: Final = tuple(bytes((0x80, version)) for version in range(2, 6))
_PYTORCH: Final = ".pth"
"""Also the suffix of what ``site`` reads as text."""


def is_pickle(file: ChangedFile, head: Tree) -> bool:
    """True for a file that pickle, PyTorch, joblib or NumPy would unpickle."""
    if file.new_mode not in ("100644", "100755") or file.size > BIGGEST:
        return False
    suffix = PurePosixPath(file.path).suffix.lower()
    if suffix in _NAMES:
        return True
    if not file.binary or file.size > _SNIFFED:
        return False
    if file.language == "zip":
        return suffix == _PYTORCH
    return file.language in (None, "pth", "text") and head.read(file.path).startswith(_STARTS)
