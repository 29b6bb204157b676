"""The look with other secrets: which probes are run again, how often, and what base takes away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gate.model.behaviour import Behaviour
from gate.model.canary import Canary
from gate.model.change import Side
from gate.model.run import Outcome, Probe, RunRecord
from gate.model.varied import Channel
from gate.plan.probes import DriverItem, job_of, probe_of
from gate.sandbox.canaries import plant
from gate.stages.varied import LONGER, Candidate, Varying, summary, unvaried
from tests.unit.signals.context import behaviour, changed, run
from tests.unit.tracing.trace_builder import Trace

Prints = Callable[[str, Side, int], bytes]
"""What a run prints with these secrets (the token), on that side, in that turn."""


def token_of(planted: tuple[Canary, ...]) -> str:
    return next(c.secrets[0] for c in planted if c.env == "GITHUB_TOKEN")


class Files:
    """A tree whose code reads the environment."""

    def __init__(self, text: bytes = b"print(1)\n") -> None:
        self.text = text

    def read_many(self, paths: tuple[str, ...]) -> list[tuple[str, bytes]]:
        return [(path, self.text) for path in paths]


class Session:
    """A machine on which runs print what ``prints`` says."""

    def __init__(self, folder: object, prints: Prints) -> None:
        self.folder, self.prints = folder, prints
        self.wrote: Callable[[str, int], str] | None = None
        self.ran: list[tuple[Side, str]] = []
        self.outcome = Outcome.COMPLETED

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        job = job_of(probe)
        assert job["pin"] == 1
        assert job["pin_time"] > 0
        token = token_of(probe.planted)
        self.ran.append((side, token))
        printed = self.prints(token, side, len(self.ran))
        trace = Trace()
        if self.wrote is not None and side == "head":
            trace.write(self.wrote(token, len(self.ran)))
        path = trace.save(self.folder / f"{side}-{len(self.ran)}.jsonl")  # type: ignore[operator]
        return replace(run("call", trace=path), probe=probe, side=side, stdout=printed, outcome=self.outcome)

    def expect(self, runs: int) -> None:
        """Nothing is started ahead."""

    def abort(self) -> None:
        """Nothing runs long."""


def probe() -> Probe:
    item = {"do": "call", "path": "shop/cart.py"}
    sides: tuple[Side, ...] = ("base", "head")
    file = changed("shop/cart.py")
    return probe_of(
        [DriverItem(phase="call", target="call shop.cart", file=file, item=item, sides=sides)], 9.0
    )


def varying(
    tmp_path: object,
    prints: Prints,
    *,
    seen: tuple[Behaviour, ...] = (),
    asked: tuple[str, ...] = ("GITHUB_TOKEN",),
    seconds: float = 60.0,
) -> tuple[Varying, Session]:
    session, planted, made = Session(tmp_path, prints), plant(), probe()
    sides: tuple[Side, ...] = ("base", "head")
    runs = tuple(
        replace(
            run("call", trace=Trace().save(tmp_path / f"first-{side}.jsonl")),  # type: ignore[operator]
            probe=made,
            side=side,
            stdout=prints(token_of(planted), side, 0),
            driver_report={"items": [{"environment": {"asked": list(asked), "more": False}}]},
        )
        for side in sides
    )
    return (
        Varying(
            session=session,
            runs=runs,
            planted=planted,
            others=plant(LONGER),
            seen=seen,
            head=Files(),  # type: ignore[arg-type]
            changed=(changed("shop/cart.py"),),
            seconds=seconds,
            note=lambda _: None,
        ),
        session,
    )


def leaks(token: str, side: Side, _: int) -> bytes:
    return f"build {sum(token.encode()) * 7919 + len(token)}\n".encode() if side == "head" else b"build\n"


def test_what_follows_the_secret_is_told_with_both_digests(tmp_path: object) -> None:
    look, session = varying(tmp_path, leaks)
    found = look.look(look.candidates())
    (one,) = found.dependences
    assert one.channel == Channel(kind="stdout")
    assert (one.how, one.path, one.target) == ("content", "shop/cart.py", "call shop.cart")
    assert one.first != one.other
    assert sorted(side for side, _ in session.ran) == ["base"] * 3 + ["head"] * 5
    lengths = {len(token) for _, token in session.ran}
    assert max(lengths) - min(lengths) == LONGER
    assert summary(found) == "probes run with other secrets: 1; runs: 8; channels that follow a secret: 1"


def test_what_base_does_too_is_not_told(tmp_path: object) -> None:
    def alike(token: str, side: Side, turn: int) -> bytes:
        more = b"ready\n" if side == "head" and not turn else b""
        return leaks(token, "head", turn) + more

    look, _ = varying(tmp_path, alike)
    assert look.candidates()
    assert not look.look(look.candidates()).dependences


def test_a_change_that_gives_nothing_new_away_costs_no_run(tmp_path: object) -> None:
    look, session = varying(tmp_path, lambda token, side, turn: b"build\n")
    assert look.candidates() == []
    assert look.look([]).runs == 0
    assert session.ran == []


def test_code_that_can_read_no_secret_costs_no_run(tmp_path: object) -> None:
    look, _ = varying(tmp_path, leaks, asked=("HOME",))
    assert look.candidates() == []


def test_what_gives_the_same_away_whatever_the_secret_is_costs_two_runs(tmp_path: object) -> None:
    look, session = varying(tmp_path, lambda token, side, turn: side.encode())
    found = look.look(look.candidates())
    assert (found.probes, found.runs, found.dependences) == (1, 2, ())
    assert len(session.ran) == 2


def test_a_file_under_a_name_that_a_program_made_up_costs_no_further_run(tmp_path: object) -> None:
    look, session = varying(tmp_path, lambda token, side, turn: side.encode())
    session.wrote = lambda _, turn: f"/tmp/sed{turn:06}"  # inside
    found = look.look(look.candidates())
    assert (found.probes, found.runs, found.dependences, found.undecided) == (1, 2, (), ())


def test_a_file_whose_name_holds_the_secret_is_told(tmp_path: object) -> None:
    look, session = varying(tmp_path, lambda token, side, turn: side.encode())
    session.wrote = lambda token, _: f"/tmp/{token.encode().hex()}"  # inside
    found = look.look(look.candidates())
    assert [one.channel for one in found.dependences] == [Channel(kind="file-name", to="machine")]


def test_what_is_known_already_is_not_told_again(tmp_path: object) -> None:
    told = behaviour("canary", "x", probes=(probe().id,), channel="stdout", to="")
    look, _ = varying(tmp_path, leaks, seen=(told,))
    assert not look.look(look.candidates()).dependences


def test_noise_is_neither_told_nor_followed(tmp_path: object) -> None:
    look, session = varying(
        tmp_path, lambda token, side, turn: b"%s %016d\n" % (side.encode(), turn * 777_777)
    )
    found = look.look(look.candidates())
    assert not found.dependences
    assert len(session.ran) == 3


def test_probes_that_do_not_end_again_are_told(tmp_path: object) -> None:
    look, session = varying(tmp_path, leaks)
    session.outcome = Outcome.TIMED_OUT
    found = look.look(look.candidates())
    assert not found.dependences
    (note,) = unvaried(found)
    assert note.reason == "with other secrets: it did not come to its end again"


def test_tests_that_time_cut_are_compared_only_where_something_leaves(tmp_path: object) -> None:
    look, session = varying(tmp_path, leaks)
    told = {"items": [{"environment": {"asked": ["GITHUB_TOKEN"], "more": False}, "tests": {"not_run": 3}}]}
    look = replace(look, runs=tuple(replace(run, driver_report=told) for run in look.runs))
    found = look.look(look.candidates())
    assert (session.ran, found.probes) == ([], 0)
    (note,) = unvaried(found)
    assert note.reason.endswith("so two runs of it are not alike")
    away = Candidate(
        probe=probe(), given=frozenset((Channel(kind="net", to="x"),)), before=frozenset(), cut=True
    )
    assert away.comparable


def test_without_time_nothing_is_run_and_that_is_told(tmp_path: object) -> None:
    look, session = varying(tmp_path, leaks, seconds=0.0)
    found = look.look(look.candidates())
    assert session.ran == []
    assert [why for *_, why in found.left] == ["no time was left"]


AWAY = Channel(kind="http", to="metrics.example", part="header x-id")


@pytest.mark.parametrize(
    ("channel", "before", "asked", "anew", "told"),
    [
        (AWAY, (), {"A_TOKEN"}, set(), {"A_TOKEN"}),  # a new field, of code that had the secret before
        (AWAY, (AWAY,), {"A_TOKEN"}, {"A_TOKEN"}, {"A_TOKEN"}),  # a known field, and the secret is new
        (AWAY, (AWAY,), {"A_TOKEN"}, set(), set()),  # base does the same
        (AWAY, (), set(), set(), set()),  # an id of a request, and no secret
        (Channel(kind="file", to="tree", part="a"), (), {"A_TOKEN"}, {"A_TOKEN"}, set()),
    ],
)
def test_noise_that_leaves_is_doubted_where_a_secret_was_asked_for(
    channel: Channel, before: tuple[Channel, ...], asked: set[str], anew: set[str], told: set[str]
) -> None:
    one = Candidate(
        probe=probe(),
        given=frozenset((channel,)),
        before=frozenset(before),
        asked=frozenset(asked),
        anew=frozenset(anew),
    )
    assert one.doubts(channel) == told


def test_what_was_asked_for_is_known_of_both_sides(tmp_path: object) -> None:
    look, _ = varying(tmp_path, leaks)
    (one,) = look.candidates()
    assert (one.asked, one.anew) == (frozenset(("GITHUB_TOKEN",)), frozenset())


MORE = Canary(name="env:A_SEED", env="A_SEED", secrets=("s" * 44,), named=True)
MORE_OTHER = replace(MORE, secrets=("t" * 51,))


def with_more(look: Varying) -> Varying:
    return replace(look, more=(MORE,), more_others=(MORE_OTHER,))


def test_what_may_be_a_secret_is_planted_beside_both_sets(tmp_path: object) -> None:
    def seen(planted: tuple[Canary, ...]) -> bytes:
        return next((c.secrets[0].encode() for c in planted if c.env == "A_SEED"), b"-")

    look, session = varying(tmp_path, lambda token, side, turn: side.encode())
    ran = session.run

    def run_with(probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        record = ran(probe, side, repeat=repeat)
        return replace(record, stdout=seen(probe.planted) if side == "head" else b"base")

    session.run = run_with  # type: ignore[method-assign]
    assert not look.look(look.candidates()).dependences
    (one,) = with_more(look).look(look.candidates()).dependences
    assert one.sizes == (44, 51)


def test_code_that_such_a_value_breaks_is_looked_at_without_it(tmp_path: object) -> None:
    look, session = varying(tmp_path, leaks)
    ran = session.run

    def breaks(probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        record = ran(probe, side, repeat=repeat)
        broken = any(c.env == "A_SEED" for c in probe.planted)
        return replace(record, outcome=Outcome.TIMED_OUT) if broken else record

    session.run = breaks  # type: ignore[method-assign]
    found = with_more(look).look(look.candidates())
    assert [one.how for one in found.dependences] == ["content"]
    assert [why for *_, why in found.left] == [
        "it did not come to its end again, with variables planted that may hold a secret or configure it"
    ]


def test_what_only_a_count_tells_is_asked_again_in_the_other_order(tmp_path: object) -> None:
    """A busy machine cut the runs with the other secrets short, five runs long: no secret decides that."""
    first = len(token_of(plant()))

    def prints(token: str, side: Side, turn: int) -> bytes:
        return b"part\n" * (3 if len(token) == first or turn > 9 else 1) if side == "head" else b"part\n"

    look, session = varying(tmp_path, prints)
    found = look.look(look.candidates())
    assert not found.dependences
    last = [len(token) == first for side, token in session.ran if side == "head"][-4:]
    assert last == [False, True, False, True]


def test_a_count_that_follows_the_secret_each_time_is_told(tmp_path: object) -> None:
    first = len(token_of(plant()))

    def prints(token: str, side: Side, _: int) -> bytes:
        return b"part\n" * (3 if len(token) == first else 1) if side == "head" else b"part\n"

    look, _ = varying(tmp_path, prints)
    assert [one.how for one in look.look(look.candidates()).dependences] != []
