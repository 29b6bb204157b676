"""Django projects of which not all can be had: packages that are nowhere, models for another database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import drive, lay_tree
from tests.unit.inside.driver.test_projects import DJANGO


def _with_a_package_that_is_nowhere() -> dict[str, str]:
    settings = DJANGO["site_a/settings.py"].replace('"shop"]', '"shop", "hub_push.subscriber", "feeds"]')
    return {
        **DJANGO,
        "site_a/settings.py": settings + "MIDDLEWARE = ['hub_push.middleware.Hub']\n",
        "site_a/urls.py": DJANGO["site_a/urls.py"]
        .replace("import path", "import include, path")
        .replace("urlpatterns = [", "urlpatterns = [path('hub/', include('hub_push.urls')), "),
        "site_b/urls.py": "from feeds.models import Hub\nurlpatterns = []\n",
        "site_a/odd.py": settings.replace("site_a.urls", "site_b.urls"),
        "shop/tests/test_alone.py": DJANGO["shop/tests/test_item.py"].replace(
            'self.assertEqual(self.client.get("/item/1/").status_code, 200)', "pass"
        ),
        "feeds/__init__.py": "",
        "feeds/models.py": "from django.db import models\nfrom hub_push.subscriber.models import Hub\n",
    }


def test_a_django_project_starts_without_the_packages_that_cannot_be_had(tmp_path: Path) -> None:
    pytest.importorskip("django")
    tree = lay_tree(tmp_path / "t", _with_a_package_that_is_nowhere())
    path = "shop/tests/test_item.py"
    seen = drive(tree, {"items": [{"do": "test", "paths": [path], "django": "manage.py"}]})
    assert (seen.item["outcome"], seen.item["tests"]) == ("completed", {"passed": 1, "failed": 0})
    assert "stand_in" not in seen.item
    (tree / "manage.py").write_text(DJANGO["manage.py"].replace("site_a.settings", "site_a.odd"))
    alone = {"do": "test", "paths": ["shop/tests/test_alone.py"], "django": "manage.py"}
    assert drive(tree, {"items": [alone]}).item["tests"] == {"passed": 1, "failed": 0}
    item = {"do": "import", "module": "feeds.models", "path": "feeds/models.py", "django": "manage.py"}
    seen = drive(tree, {"items": [item]})
    assert (seen.item["outcome"], seen.item["missing"]) == ("missing", "hub_push")


def test_an_application_whose_models_name_a_missing_package_runs_with_its_import_put_off(
    tmp_path: Path,
) -> None:
    pytest.importorskip("django")
    feed = """
from django.db import models
from hub_push.publisher import ping


class Feed(models.Model):
    name = models.CharField(max_length=20)

    def label(self):
        return self.name.upper()

    def publish(self):
        ping(self.name)
"""
    test = """
from django.test import TestCase

from feeds.models import Feed


class FeedTests(TestCase):
    def test_label(self):
        self.assertEqual(Feed.objects.create(name="a").label(), "A")

    def test_publish(self):
        self.assertTrue(Feed.objects.create(name="a").publish())
"""
    files = {**_with_a_package_that_is_nowhere(), "feeds/models.py": feed, "feeds/tests.py": test}
    tree = lay_tree(tmp_path / "t", files)
    lines = {"feeds/models.py": [[1, 14]], "feeds/tests.py": [[1, 20]]}
    job = {"lines": lines, "seconds": 90}
    item = {"do": "test", "paths": ["feeds/tests.py"], "django": "manage.py"}
    seen = drive(tree, {"items": [item], **job}, seconds=120).item
    assert (seen["outcome"], seen["missing"]) == ("missing", "hub_push")
    assert seen["put_off"]["lines"] == {
        "feeds/models.py": [1, 5, 6, 8, 9, 11],
        "feeds/tests.py": [1, 3, 6, 7, 8, 10, 11],
    }
    item = {"do": "import", "module": "feeds.models", "path": "feeds/models.py", "django": "manage.py"}
    seen = drive(tree, {"items": [{**item, "calls": ["Feed.label"]}], **job}, seconds=120).item
    assert 9 in seen["put_off"]["lines"]["feeds/models.py"]


def test_models_for_another_database_do_not_keep_the_tests_from_running(tmp_path: Path) -> None:
    pytest.importorskip("django")
    odd = """
from django.db import models


class Stamp(models.Field):
    def db_type(self, connection):
        return "timestamp WITH :: zone"


class Page(models.Model):
    made = Stamp()


class Note(models.Model):
    text = models.TextField()

    class Meta:
        indexes = [models.Index(models.Func("text", template="to_tsvector::%(expressions)s"), name="by_text")]
"""
    tree = lay_tree(tmp_path / "t", {**DJANGO, "shop/models.py": DJANGO["shop/models.py"] + odd})
    item = {"do": "test", "paths": ["shop/tests/test_item.py"], "django": "manage.py"}
    assert drive(tree, {"items": [item]}).item["tests"] == {"passed": 1, "failed": 0}


def test_an_application_of_the_project_that_is_gone_is_not_left_out(tmp_path: Path) -> None:
    pytest.importorskip("django")
    files = {**_with_a_package_that_is_nowhere(), "hub_push/__init__.py": ""}
    tree = lay_tree(tmp_path / "t", files)
    seen = drive(
        tree, {"items": [{"do": "test", "paths": ["shop/tests/test_item.py"], "django": "manage.py"}]}
    )
    assert seen.item["outcome"] != "completed"
