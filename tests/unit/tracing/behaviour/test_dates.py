"""Dates and times in names and command lines are one name; addresses, versions and ports stay."""

from __future__ import annotations

import datetime
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.tracing.behaviour.normalise import name_shape, text_shape

FORMATS = (
    "%Y-%m-%d", "%Y%m%d", "%Y_%m_%d", "%d.%m.%y", "%d-%m-%Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d_%H-%M-%S", "%Y%m%d-%H%M%S", "%b%d", "%d-%b-%Y", "%d-%b-%Y_%H.%M", "%d%b%Y", "%B-%d-%Y",
    "%Y-%m-%d_%Hh%M",
)  # fmt: skip
SPOKEN = (
    "%a %b %d %H:%M:%S UTC %Y", "%a, %d %b %Y %H:%M:%S GMT", "%a, %d %b %Y %H:%M:%S +0000",
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S,123", "%B %d, %Y", "%d %B %Y",
    "%b %d %H:%M:%S", "%H:%M:%S", "%Y/%m/%d %H:%M",
    "%A, %B %d, %Y", "%m/%d/%Y", "%m/%d/%y", "%a %d %b %Y %I:%M:%S %p UTC", "%Y-%m-%dT%H:%M:%S+00:00",
)  # fmt: skip
DAYS = st.datetimes(min_value=datetime.datetime(2020, 1, 1), max_value=datetime.datetime(2035, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize("form", FORMATS)
@given(one=DAYS, other=DAYS)
@pytest.mark.slow
def test_dated_names_are_one_name(form: str, one: datetime.datetime, other: datetime.datetime) -> None:
    shapes = {name_shape(f"log-{day.strftime(form)}.txt") for day in (one, other)}
    assert len(shapes) == 1, shapes


@pytest.mark.parametrize("form", [*FORMATS, *SPOKEN])
@given(one=DAYS, other=DAYS)
@pytest.mark.slow
def test_dated_words_are_one_word(form: str, one: datetime.datetime, other: datetime.datetime) -> None:
    shapes = {text_shape(f"done at {day.strftime(form)} by me") for day in (one, other)}
    assert len(shapes) == 1, shapes


@pytest.mark.parametrize(
    "text",
    [
        "192.0.2.7", "192.0.2.7:80", "10.11.12.13", "https://10.11.12.13/a.sh", "pkg-1.2.3", "22:22",
        "-p 80:80", "a.b-c_d", "1.26.4", "10.11.12", "v10.11.12", "00:1a:2b:3c:4d:5e", "::1", "May",
        "Sun", "March", "12", "mar.sh", "Decode12", "Junk1x",
        "127.0.0.1", "2.10.0-rc1", "--jobs=8", "0644", "s/01/02/",
    ],
)  # fmt: skip
def test_what_is_no_date_stays(text: str) -> None:
    kept = text if text != "0644" else "*"
    assert text_shape(text) == kept


@pytest.mark.parametrize(
    "name", ["10.0.2.7", "pkg-1.2.3.whl", "May", "marshal.py", "Dec", "a-1.26.4", "10.11.12.13"]
)
def test_names_that_are_no_dates_stay(name: str) -> None:
    assert name_shape(name) == name


@pytest.mark.parametrize("unit", ["12:", "2026-", "Mon ", "Nov 1", "1-", "22.11.", "2026-11-22T"])
def test_made_to_be_slow(unit: str) -> None:
    before = time.process_time()
    text_shape(unit * (200_000 // len(unit)))
    name_shape(unit * (200_000 // len(unit)))
    assert time.process_time() - before < 30
