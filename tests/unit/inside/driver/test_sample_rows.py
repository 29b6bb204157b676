"""Rows that are made from the types of columns, in a real database."""

from __future__ import annotations

import datetime
import enum

import sqlalchemy as sa

from gate.inside.driver import sample_rows


class Kind(enum.Enum):
    PLAIN = 1
    OTHER = 2


def test_each_table_gets_a_row_and_refers_to_the_others() -> None:
    metadata = sa.MetaData()
    users = sa.Table(
        "users",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("email", sa.String(40), nullable=False, unique=True),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("is_banned", sa.Boolean, nullable=False),
        sa.Column("made", sa.DateTime, default=lambda: datetime.datetime(2020, 1, 1)),  # noqa: DTZ001
    )
    notes = sa.Table(
        "notes",
        metadata,
        sa.Column("slug", sa.String(5), primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
        sa.Column("kind", sa.Enum(Kind), nullable=False),
        sa.Column("state", sa.Enum("open", "closed", name="state"), nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("cost", sa.Numeric, nullable=False),
    )
    refused = sa.Table(
        "refused", metadata, sa.Column("id", sa.Integer, sa.CheckConstraint("id > 5"), primary_key=True)
    )
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    metadata.create_all(engine)
    assert sample_rows.fill_sqlalchemy(metadata, engine) == 2
    with engine.connect() as connection:
        (user,) = connection.execute(sa.select(users)).mappings().all()
        (note,) = connection.execute(sa.select(notes)).mappings().all()
        assert not connection.execute(sa.select(refused)).all()
    assert (user["id"], user["is_active"], user["is_banned"]) == (1, True, False)
    assert "@" in user["email"]
    assert note["user_id"] == 1
    assert note["kind"] is Kind.PLAIN
    assert note["state"] == "open"
    assert len(note["slug"]) <= 5


def test_a_metadata_that_a_database_does_not_take_gives_no_row() -> None:
    metadata = sa.MetaData()
    sa.Table("absent", metadata, sa.Column("id", sa.Integer, primary_key=True))
    assert sample_rows.fill_sqlalchemy(metadata, sa.create_engine("sqlite://")) == 0
