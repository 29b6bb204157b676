"""While tests run a new password costs little; what names its cost, or was stored with it, is as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import drive, lay_tree

DJANGO = pytest.importorskip("django")
pytest.importorskip("werkzeug")

TESTS = """
import time
import unittest

from django.conf import settings

if not settings.configured:
    settings.configure()
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.utils.crypto import pbkdf2
from werkzeug.security import check_password_hash, generate_password_hash


def spent(act):
    start = time.process_time()
    act()
    return time.process_time() - start


STORED = PBKDF2PasswordHasher().encode("s3cret", "salt" * 6, iterations=20_000)


class Costs(unittest.TestCase):
    def test_a_new_password_is_cheap_and_right(self):
        made = make_password("s3cret")
        self.assertEqual(int(made.split("$")[1]), PBKDF2PasswordHasher.iterations)
        self.assertLess(spent(lambda: make_password("s3cret")) * 5, spent(lambda: pbkdf2("a", "b", 300_000)))
        self.assertFalse(PBKDF2PasswordHasher().must_update(made))
        self.assertTrue(check_password("s3cret", made))
        self.assertFalse(check_password("another", made))
        made = generate_password_hash("s3cret")
        self.assertTrue(made.startswith("scrypt:1024:8:1$"))
        self.assertTrue(check_password_hash(made, "s3cret"))

    def test_a_stored_one_is_verified_at_its_own_cost(self):
        self.assertTrue(check_password("s3cret", STORED))
        self.assertFalse(check_password("another", STORED))

    def test_a_cost_that_is_named_stays(self):
        made = generate_password_hash("s3cret", "pbkdf2:sha256:7000")
        self.assertTrue(made.startswith("pbkdf2:sha256:7000$"))
"""


@pytest.mark.parametrize("flags", [(), ("-S",)], ids=["pytest", "unittest"])
def test_passwords_of_a_suite(tmp_path: Path, flags: tuple[str, ...]) -> None:
    packages = str(Path(str(DJANGO.__file__)).parent.parent)
    first = f"import sys\nsys.path.append({packages!r})\n" if flags else ""
    tree = lay_tree(tmp_path / "t", {"test_costs.py": first + TESTS})
    job = {"items": [{"do": "test", "paths": ["test_costs.py"]}]}
    seen = drive(tree, job, python=(sys.executable, *flags))
    assert seen.done, seen
    assert seen.item["tests"] == {"passed": 3} | ({"failed": 0, "called": 0} if flags else {}), seen
