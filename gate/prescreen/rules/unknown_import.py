"""A module is imported that nothing here provides and hardly anybody uses.

Generated code invents packages, and attackers register the names it invents (slopsquatting).

Check that the package exists, who publishes it, and that it is the one that was meant; then declare it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.supply.lookalike import is_known

# Modules whose package has another name (the name on the index is what the list of used names has).
_OTHERWISE_NAMED: Final = frozenset({
    "_pytest", "absl", "allauth", "arcpy", "attr", "azure", "backports", "Bio", "bpy", "bs4", "bson",
    "community", "corsheaders", "Crypto", "Cryptodome", "cv2", "cx_Oracle", "Cython", "cython", "dateutil",
    "discord", "distutils", "dns", "docx", "dotenv", "environ", "faiss", "fitz", "flask_sqlalchemy", "gi",
    "git", "google", "gridfs", "haystack", "hdbscan", "hou", "imp", "ipykernel", "IPython", "jose", "js",
    "jwt", "kafka", "ldap", "Levenshtein", "magic", "markdown", "maya", "memcache", "micropip",
    "mpl_toolkits", "mx", "MySQLdb", "nacl", "nuke", "numpy", "OpenGL", "OpenSSL", "opentelemetry",
    "oracledb", "osgeo", "PIL", "pkg_resources", "pptx", "psycopg2", "pwn", "pylab", "pylibmc", "pymongo",
    "pynput", "pyodide", "pytest", "pythoncom", "pywintypes", "rdkit", "redis", "rest_framework", "rpy2",
    "ruamel", "sage", "scapy", "serial", "setuptools", "skimage", "sklearn", "slugify", "socks",
    "sounddevice", "telegram", "tlz", "typing_extensions", "umap", "unreal", "usb", "whisper", "win32api",
    "win32com", "win32con", "wx", "Xlib", "yaml", "zmq", "zope",
})  # fmt: skip


@rule(
    "py.unknown-import",
    "Import of a module nobody seems to know",
    severity="low",
    confidence="low",
    topic="dependency",
    cwe=(1357,),
    attack=("T1195.001",),
    why="Generated code invents package names, and attackers register them.",
    fix="Check that the package exists and is the one that was meant, and declare it as a dependency.",
)
def check(module: Module) -> Iterator[Hit]:
    """Plain imports of such names; one that is tried, or only for type checks, says what to do without it.

    Names the project itself has or declares are taken away by the scanner, which sees the tree.
    """
    if module.is_test:
        return
    told: set[str] = set()
    for node in module.all(ast.Import, ast.ImportFrom):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module and not node.level else []
        if any(isinstance(up, ast.Try | ast.If) for up in module.above(node)):
            continue
        for name in names:
            root = name.partition(".")[0]
            if root not in told and not _familiar(root):
                told.add(root)
                yield Hit(node=node, message="Nobody seems to know this module.", evidence={"module": root})


def _familiar(root: str) -> bool:
    if root in sys.stdlib_module_names or root in _OTHERWISE_NAMED or root.startswith("_"):
        return True
    forms = (
        root,
        f"python-{root}",
        f"py{root}",
        f"{root}-python",
        root.removeprefix("py"),
        f"{root}py",
        root.rstrip("s"),
    )
    return any(is_known(form, "pypi") for form in forms if form)
