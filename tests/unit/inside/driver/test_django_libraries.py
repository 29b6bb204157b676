"""Applications for Django that are no project of their own; real Django, no sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import drive, lay_tree
from tests.unit.inside.driver.test_projects import DJANGO


@pytest.mark.parametrize(
    "names",
    [
        'os.environ["DJANGO_SETTINGS_MODULE"] = "site_a.settings"',
        'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_a.settings")',
        None,
    ],
)
def test_a_library_for_django_is_set_up_as_the_script_does_that_runs_its_tests(
    names: str | None, tmp_path: Path
) -> None:
    """Without settings that it names it may be anybody's script: then nothing is guessed from places."""
    runner = f"import os, sys\n{names or 'print()'}\nfrom django.core.management import *\n"
    files = {**DJANGO, "testmanage.py": runner}
    del files["manage.py"]
    path = "shop/tests/test_item.py"
    item = {"do": "test", "paths": [path], "django": "testmanage.py"}
    seen = drive(lay_tree(tmp_path / "t", files), {"items": [item], "seconds": 60})
    assert (seen.item["outcome"], seen.item["tests"].get("passed")) == (
        ("completed", 1) if names else ("uncollected", None)
    ), seen.item
