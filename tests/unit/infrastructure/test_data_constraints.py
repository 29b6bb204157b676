"""Constraints of a database that base has and head has not."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.infrastructure.sql_constraints import Constraints, read
from gate.prescreen.scanners.data_constraints import constraint_findings
from gate.prescreen.scanners.infrastructure import LOST
from tests.prescreen_support import make_request

SCHEMA = """
CREATE TABLE redemptions (
    id INTEGER PRIMARY KEY,
    coupon_id INTEGER NOT NULL REFERENCES coupons (id),
    customer_id INTEGER NOT NULL,
    cents INTEGER NOT NULL CHECK (cents > 0),
    CONSTRAINT once UNIQUE (coupon_id, customer_id)
);
CREATE UNIQUE INDEX IF NOT EXISTS redemptions_lookup ON public.redemptions USING btree (customer_id, coupon_id);
CREATE INDEX plain ON redemptions (cents);
"""
PRISMA = "model Redemption {\n  id Int @id\n  coupon Int\n  customer Int\n  code String @unique\n  @@unique([coupon, customer])\n}\n"


def told(head: dict[str, str], base: dict[str, str]) -> list[str]:
    for path, text in [*base.items(), *head.items()]:
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = list(constraint_findings(make_request(head, base), LOST, []))
    assert all(f.severity.value == "medium" for f in found)
    return [f.evidence["what"] for f in found]


def migrated(statement: str) -> list[str]:
    base = {
        "migrations/0001.sql": SCHEMA.replace(
            "    CONSTRAINT once UNIQUE (coupon_id, customer_id)\n", "    at TEXT\n"
        )
    }
    return told({**base, "migrations/0002.sql": statement}, base)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP INDEX redemptions_lookup;\nCREATE INDEX redemptions_lookup ON redemptions (coupon_id, customer_id);",
        "drop index concurrently if exists public.redemptions_lookup;",
        "DROP INDEX redemptions_lookup; CREATE UNIQUE INDEX l ON redemptions (coupon_id, customer_id, at);",
        "ALTER TABLE redemptions DROP CONSTRAINT redemptions_lookup, ADD COLUMN note TEXT;",
        "ALTER TABLE redemptions DROP CONSTRAINT IF EXISTS redemptions_cents_check;",
        "DROP INDEX redemptions_lookup ON redemptions",
    ],
)
def test_a_migration_that_takes_it_away(statement: str) -> None:
    assert len(migrated(statement)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "DROP INDEX plain;",
        "DROP INDEX redemptions_lookup; CREATE UNIQUE INDEX l ON redemptions (customer_id, coupon_id) WHERE cents > 0;",
        "DROP INDEX redemptions_lookup; ALTER TABLE redemptions ADD CONSTRAINT once UNIQUE (coupon_id, customer_id);",
        "CREATE UNIQUE INDEX l ON redemptions (lower(customer_id), coupon_id); DROP INDEX redemptions_lookup;",
        "DROP INDEX redemptions_lookup; ALTER TABLE redemptions DROP COLUMN coupon_id;",
        "DROP TABLE redemptions;",
        "-- DROP INDEX redemptions_lookup;",
        "SELECT 1;\n-- +goose Down\nDROP INDEX redemptions_lookup;",
        "CREATE UNIQUE INDEX other ON redemptions (at);",
    ],
)
def test_ordinary_migrations(statement: str) -> None:
    assert migrated(statement) == []


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "what"),
    [
        ("schema.sql", SCHEMA, "CONSTRAINT once UNIQUE (coupon_id, customer_id)", "at TEXT", ""),
        ("schema.sql", SCHEMA, " CHECK (cents > 0)", "", "check of redemptions"),
        (
            "prisma/schema.prisma",
            PRISMA,
            "  @@unique([coupon, customer])\n",
            "  @@index([coupon, customer])\n",
            "unique (coupon, customer) of redemption",
        ),
        ("prisma/schema.prisma", PRISMA, " @unique\n", "\n", "unique (code) of redemption"),
        (
            "prisma/schema.prisma",
            PRISMA,
            "  coupon Int\n  customer Int\n",
            "  coupon Int\n  customer Int\n  note String\n",
            "",
        ),
        ("prisma/schema.prisma", PRISMA, "  code String @unique\n", "", ""),
    ],
)
def test_a_schema(path: str, text: str, old: str, new: str, what: str) -> None:
    assert told({path: text.replace(old, new)}, {path: text}) == ([what] if what else [])


@given(data=st.text(alphabet="CREATE UNIQUE INDEX ON TABLE ALTER DROP(),;a ", max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read(data: str) -> None:
    assert isinstance(read("a.sql", data.encode(), {}), Constraints)
    assert isinstance(read("a.prisma", data.encode(), {}), Constraints)


KEPT = {"migrations/0001.sql": SCHEMA}


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE redemptions ALTER COLUMN customer_id DROP NOT NULL;",
        "ALTER TABLE public.redemptions ADD COLUMN a TEXT, ALTER customer_id DROP NOT NULL;",
        "ALTER TABLE redemptions MODIFY customer_id INTEGER NULL;",
        "ALTER TABLE redemptions ALTER COLUMN customer_id INTEGER NULL;",
        "ALTER TABLE redemptions ALTER CONSTRAINT once DEFERRABLE INITIALLY DEFERRED;",
        "ALTER TABLE redemptions DROP CONSTRAINT once, ADD CONSTRAINT once UNIQUE (coupon_id, customer_id) DEFERRABLE;",
        "ALTER TABLE redemptions ALTER CONSTRAINT redemptions_cents_check NOT ENFORCED;",
        "ALTER TABLE redemptions NOCHECK CONSTRAINT redemptions_cents_check;",
        "ALTER TABLE redemptions DROP CONSTRAINT redemptions_cents_check, ADD CONSTRAINT redemptions_cents_check CHECK (cents > 0) NOT VALID;",
    ],
)
def test_a_constraint_that_stays_and_refuses_less(statement: str) -> None:
    assert len(told({**KEPT, "migrations/0002.sql": statement}, KEPT)) == 1
    assert told({"migrations/0002.sql": statement}, {"migrations/0002.sql": statement}) == []


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE redemptions ALTER COLUMN cents DROP NOT NULL;",
        "ALTER TABLE other ALTER COLUMN customer_id DROP NOT NULL;",
        "ALTER TABLE redemptions ALTER COLUMN customer_id SET NOT NULL;",
        "ALTER TABLE redemptions MODIFY customer_id BIGINT NOT NULL;",
        "ALTER TABLE redemptions ALTER COLUMN customer_id SET DEFAULT NULL;",
        "ALTER TABLE redemptions ADD CONSTRAINT other CHECK (cents < 9) NOT VALID;",
        "ALTER TABLE redemptions ADD CONSTRAINT f FOREIGN KEY (coupon_id) REFERENCES c (id) DEFERRABLE;",
    ],
)
def test_what_refuses_as_before(statement: str) -> None:
    assert told({**KEPT, "migrations/0002.sql": statement}, KEPT) == []


def test_a_table_whose_unique_column_may_be_null() -> None:
    loose = SCHEMA.replace("customer_id INTEGER NOT NULL", "customer_id INTEGER")
    assert len(told({"schema.sql": loose}, {"schema.sql": SCHEMA})) == 1
    assert told({"schema.sql": SCHEMA}, {"schema.sql": loose}) == []
