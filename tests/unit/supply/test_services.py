"""Which servers a project's tests ask for, by its own files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gate.supply.services import AskedServices, Service, asked_services, default_services
from tests.contract.trees import DictTree

WORKFLOW = """
name: tests
on: [push]
env:
  REDIS_URL: redis://redis:6379/1
jobs:
  lint:
    runs-on: ubuntu-latest
    steps: [{run: ruff check}]
  test:
    runs-on: ubuntu-latest
    env:
      DATABASE_URL: postgresql://shop:secret@localhost:5433/shop_test
      AWS_REGION: eu-west-1
      PATH: /evil
    services:
      postgres:
        image: postgres:16-alpine
        env: {POSTGRES_USER: shop, POSTGRES_PASSWORD: secret, POSTGRES_DB: shop_test}
        ports: ["5433:5432"]
      redis:
        image: redis
    steps:
      - run: pytest
        env: {DB_HOST: postgres, DB_PASSWORD: "${{ secrets.DB }}"}
"""
COMPOSE = """
services:
  db:
    image: postgis/postgis:15-3.3
    environment:
      - POSTGRES_USER=app
      - POSTGRES_DB=app
    ports: ["5555:5432"]
  cache: {image: "valkey/valkey:8"}
  metrics: {image: prometheuscommunity/postgres-exporter}
  web:
    build: .
    environment:
      DATABASE_URL: postgresql+asyncpg://app:db@db:5432/db
      POSTGRES_HOST: db
      CELERY_BROKER_URL: redis://cache:6379/0
      PYTHONPATH: /work
"""


def _asked(**files: str) -> AskedServices:
    return asked_services(DictTree(files={name.replace("__", "/"): text for name, text in files.items()}))


def test_a_workflows_job_names_its_servers_and_how_they_are_found() -> None:
    found = asked_services(DictTree(files={".github/workflows/ci.yml": WORKFLOW, "compose.yaml": COMPOSE}))
    assert found.path == ".github/workflows/ci.yml"
    assert found.services == (
        Service(
            kind="postgresql",
            port=5433,
            alias="postgres",
            user="shop",
            password="secret",  # of no server
            database="shop_test",
        ),
        Service(kind="redis", port=6379, alias="redis"),
    )
    assert found.env == {
        "DATABASE_URL": "postgresql://shop:secret@localhost:5433/shop_test",
        "REDIS_URL": "redis://localhost:6379/1",
        "DB_HOST": "localhost",
    }


def test_a_compose_files_servers_are_on_the_loopback_at_their_own_ports() -> None:
    found = asked_services(DictTree(files={"deploy/docker-compose.dev.yml": COMPOSE}))
    assert [(s.kind, s.port, s.user, s.database) for s in found.services] == [
        ("postgresql", 5432, "app", "app"),
        ("redis", 6379, "postgres", "postgres"),
    ]
    assert found.env == {
        "POSTGRES_USER": "app",
        "POSTGRES_DB": "app",
        "DATABASE_URL": "postgresql+asyncpg://app:db@localhost:5432/db",
        "POSTGRES_HOST": "localhost",
        "CELERY_BROKER_URL": "redis://localhost:6379/0",
    }


def test_gitlabs_pipeline() -> None:
    text = """
test:
  services: ["postgres:15", {name: x, image: "redis:7", alias: cache}]
  variables: {POSTGRES_DB: shop, POSTGRES_USER: runner, POSTGRES_HOST: postgres}
  script: [pytest]
"""
    found = asked_services(DictTree(files={".gitlab-ci.yml": text}))
    assert [(s.kind, s.alias, s.database) for s in found.services] == [
        ("postgresql", "postgres", "shop"),
        ("redis", "cache", "shop"),
    ]
    assert found.env["POSTGRES_HOST"] == "localhost"


def test_nothing_where_nothing_asks() -> None:
    assert not asked_services(DictTree(files={"compose.yaml": "services: {web: {image: nginx}}"})).services
    assert not asked_services(DictTree(files={"compose.yaml": "- [", "a/b/c/compose.yaml": COMPOSE})).services


def test_no_name_leaves_its_quotes() -> None:
    hostile = (
        'services: {db: {image: postgres, environment: {POSTGRES_DB: "a\\"; DROP", POSTGRES_USER: "-c"}}}'
    )
    (found,) = asked_services(DictTree(files={"compose.yaml": hostile})).services
    assert (found.user, found.database) == ("postgres", "postgres")


def test_usual_ones() -> None:
    assert [s.port for s in default_services(("redis", "postgresql")).services] == [6379, 5432]


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    asked_services(DictTree(files={"compose.yaml": text, ".github/workflows/a.yml": text}))


@given(
    st.recursive(
        st.text(max_size=8) | st.sampled_from(["postgres:1", "redis"]),
        lambda below: (
            st.lists(below, max_size=3)
            | st.dictionaries(
                st.sampled_from(["services", "image", "env", "environment", "ports", "jobs", "x"]), below
            )
        ),
        max_leaves=12,
    )
)
def test_any_document_is_read(data: object) -> None:
    import json

    text = json.dumps(data)
    asked_services(DictTree(files={"compose.yaml": text, ".github/workflows/a.yml": text}))


def test_the_job_that_runs_the_tests() -> None:
    browser = WORKFLOW.replace("pytest", "npx playwright test").replace("shop", "browser")
    asked = _asked(**{".github__workflows__browser.yml": browser, ".github__workflows__tests.yml": WORKFLOW})
    assert (asked.services[0].user, asked.path) == ("shop", ".github/workflows/tests.yml")
    only = _asked(**{".github__workflows__browser.yml": browser, "compose.yaml": COMPOSE})
    assert (only.services[0].user, only.path) == ("browser", ".github/workflows/browser.yml")


def test_the_job_of_gitlab_that_runs_the_tests() -> None:
    job = "{{services: ['postgres:16'], variables: {{POSTGRES_DB: {name}}}, script: {script}}}"
    pages = job.format(name="pages", script="make pages")
    tests = job.format(name="tests", script="['pip install .', 'python -m pytest -q']")
    asked = _asked(**{".gitlab-ci.yml": f"pages: {pages}\ntests: {tests}\n"})
    assert asked.services[0].database == "tests"
