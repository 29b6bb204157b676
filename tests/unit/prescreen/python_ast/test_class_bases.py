"""What a class is made from counts, in whichever file of the tree it stands."""

from __future__ import annotations

import pytest

from gate.prescreen.python_ast.scanner import PyAst
from tests.prescreen_support import make_request

USE = "import yaml\n{imports}\n\n\ndef read(path):\n    return yaml.load(path.read_text(), Loader={loader})\n"
BASES = "import yaml\n\n\nclass Base(yaml.{base}):\n    pass\n\n\nAlso = Base\nPlain = yaml.{base}\n"
MIDDLE = "from .bases import Base\n\n\nclass Middle(Base):\n    pass\n"
IMPORTS = [
    ("from .bases import Base", "Base"),
    ("from app import bases", "bases.Base"),
    ("from app.bases import Also as Given", "Given"),
    ("from .bases import Plain", "Plain"),
    ("from .middle import Middle", "Middle"),
    ("from .bases import Base\n\n\nclass Own(Base):\n    pass", "Own"),
]


def levels(imports: str, loader: str, base: str) -> list[str]:
    files = {
        "app/__init__.py": "",
        "app/bases.py": BASES.format(base=base),
        "app/middle.py": MIDDLE,
        "app/read.py": USE.format(imports=imports, loader=loader),
    }
    unchanged = {path: text for path, text in files.items() if path != "app/read.py"}
    found = PyAst().scan(make_request(files, unchanged)).findings
    return [f.severity.value for f in found if f.rule_id == "py.unsafe-deserialisation"]


@pytest.mark.parametrize(("imports", "loader"), IMPORTS)
def test_a_loader_of_another_file_is_what_it_is_made_from(imports: str, loader: str) -> None:
    assert levels(imports, loader, "Loader") == ["high"]
    assert levels(imports, loader, "SafeLoader") == []
