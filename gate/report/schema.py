"""``python -m gate.report.schema [FILE]`` writes the JSON Schema of report.json (docs/report.schema.json)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gate.report.json_v1 import schema

DEFAULT: Final = Path(__file__).parents[2] / "docs" / "report.schema.json"


def schema_text() -> str:
    """The schema as it is kept in docs."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the schema to the file named, or into docs."""
    Path(arguments[0] if arguments else DEFAULT).write_text(schema_text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
