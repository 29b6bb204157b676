"""A person's files in the sandbox's home: what wipers, lockers and collectors go for.

Without them such code finds nothing, does nothing, and looks harmless. They hold no secret (those are the
canaries) and are the same in every run, so that base and head meet the same home.
"""

from __future__ import annotations

from typing import Final

from gate.sandbox.canaries import HOME

_TEXTS: Final = {
    "Documents/notes.txt": "Call the plumber on Tuesday.\nAsk Maria about the lease.\n",
    "Documents/budget.csv": "month,rent,food\nJanuary,950,310\nFebruary,950,295\n",
    "Documents/letters/landlord.txt": "Dear Mr Weber,\n\nthe heating in the hall is out again.\n",
    "Documents/cv.md": "# Curriculum vitae\n\n2019-2024 backend developer\n",
    "Desktop/todo.txt": "- renew passport\n- back up photos\n",
    "Downloads/invoice-1041.txt": "Invoice 1041\nTotal: 42.10\n",
    "Pictures/holiday/readme.txt": "Lisbon, spring. The good ones are in the album.\n",
    ".bash_history": "ls\ncd project\ngit status\npytest\n",
}


def decoy_home_files() -> dict[str, bytes]:
    """For ``SandboxSpec.files``: absolute path inside -> content."""
    return {f"{HOME}/{name}": text.encode() for name, text in _TEXTS.items()}
