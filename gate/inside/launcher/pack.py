"""Writes the pack of start.py: every module the launcher imports, compiled. Part of the image's build.

``python3 -I -S /opt/gate/launcher/pack.py`` where the launcher lies in its final place; prints to stdout.
"""

import marshal
import sys

BEFORE = set(sys.modules)
_package = type(sys)("gate_launcher")
_package.__path__ = [__file__.rpartition("/")[0]]
sys.modules["gate_launcher"] = _package

from gate_launcher import main  # noqa: F401  # with all it needs
from gate_launcher.start import external, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def body(loader: "Any", name: str) -> bytes:
    """A module's marshalled code: what lies compiled, so that two builds are the same; else compiled now."""
    try:
        return bytes(loader.get_data(external.cache_from_source(loader.get_filename(name)))[16:])
    except OSError:
        return marshal.dumps(loader.get_code(name))


def members() -> "dict[str, tuple[str, bytes]]":
    """Module name -> (path of its source, marshalled code), by name."""
    found = {}
    for name in sorted(set(sys.modules) - BEFORE - {"gate_launcher", "gate_launcher.start"}):
        spec = getattr(sys.modules[name], "__spec__", None)
        if spec is not None and spec.name == name and type(spec.loader) is external.SourceFileLoader:
            found[name] = (spec.origin, body(spec.loader, name))
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(stamp() + marshal.dumps(members()))
