"""The files that the images are made of, and the digest that says which version of them an image holds.

Standard library only, as the release workflow asks it for the digest before anything is installed:
``python3 -m gate.sandbox.images.recipe``.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from gate.errors import InconclusiveError
from gate.resources import inside_dir


@cache
def sources() -> dict[str, Path]:
    """Every file that goes into the images: path in the build context -> path on the host."""
    inside = inside_dir()
    package = inside.parent
    places = (package / "_image" / "Dockerfile", package.parent / "Dockerfile")
    recipe = next((path for path in places if path.is_file()), None)
    if recipe is None:
        raise InconclusiveError("the image recipe (Dockerfile) is missing", advice="Reinstall gate.")
    found = {"Dockerfile": recipe}
    for folder in ("driver", "launcher", "observer", "runtimes", "sinkhole"):
        for path in sorted((inside / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[f"gate/{path.relative_to(package).as_posix()}"] = path
    return found


def digest() -> str:
    """16 hex digits that change when any file of the images does."""
    total = hashlib.sha256()
    for name, path in sources().items():
        content = path.read_bytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()[:16]


if __name__ == "__main__":
    print(digest())
