"""What people do to two pull requests of one stranger, in any order (docs/trust.md).

The world is the stand-in's; what hears of it is a subclass: the workflows of test_trust_machine.py, or the
App of test_app_machine.py. A bad commit is bad against `main`, and already in `lax`.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import currently_in_test_context, event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from gate.model.report import Report
from tests.forge.standin.direct import DirectApi
from tests.forge.standin.world import BASE, OWNER, Actor, Pull, World
from tests.forge.telling import harmless, soft

WHY = "Reviewed with the platform team, see the ticket."
CHECK = ".github/workflows/gate-check.yml"
BASES = {"main": BASE, "lax": "b" * 40}
HEADS = {"1" * 40: "good", "2" * 40: "bad", "3" * 40: "good", "4" * 40: "bad"}
PEOPLE = {OWNER: "admin", "wren": "write", "mina": "admin", "rob": "read", "mallory": ""}
COUNTS: Counter[str] = Counter()


def count(what: str) -> None:
    """For the statistics, and for the test that the machine saw enough."""
    COUNTS[what] += 1
    if currently_in_test_context():
        event(what)


@functools.cache
def _template(bad: bool) -> Report:
    return soft() if bad else harmless()


def report(number: int, head: str, base: str, *, bad: bool) -> Report:
    """What an honest look says of a good or bad change from ``base`` to ``head``."""
    made = _template(bad)
    change = replace(made.change, head=head, base=base, merge_base=base)
    return replace(made, change=change, pull_request=number)


def is_bad(head: str, base: str) -> bool:
    return HEADS[head] == "bad" and base == BASES["main"]


class People(RuleBasedStateMachine):
    """One repository, two pull requests of one stranger, everybody who may say anything."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.roles |= {who: role for who, role in PEOPLE.items() if role}
        self.world.job(
            issues="write",
            pull_requests="write",
            checks="write",
            statuses="write",
            contents="read",
            actions="read",
        )
        self.api = DirectApi(self.world)
        self.time = datetime.now(UTC) + timedelta(minutes=5)
        self.edited: dict[str, bool] = {}  # head: does it edit the workflow?
        self.heads: set[tuple[int, str]] = set()  # what was ever the head of which pull request
        self.begin()
        for number in (7, 9):
            head = next(iter(HEADS))
            self.world.pulls[number] = Pull(
                number=number,
                head_sha=head,
                head_ref=f"f{number}",
                head_owner="mina",
                head_repo_id=66,
                files=["x.py"],
            )
            self.edited[head] = False
            self.heads.add((number, head))
            self.looked_at(number, "opened")

    # ---- what hears of it

    def begin(self) -> None:
        """Before anything happens."""

    def looked_at(self, number: int, action: str) -> None:
        """GitHub's event of a pull request that is opened, pushed to, reopened or retargeted (``edited``)."""
        raise NotImplementedError

    def heard(self, number: int, action: str, text: str) -> None:
        """GitHub's event of a comment."""
        raise NotImplementedError

    def tick(self) -> str:
        """A later time, as GitHub writes it."""
        self.time += timedelta(seconds=7)
        return self.time.strftime("%Y-%m-%dT%H:%M:%SZ")

    def edits(self, number: int) -> bool:
        """Does the pull request edit the gate's workflow?"""
        return CHECK in self.world.pulls[number].files

    # ---- what people do

    numbers = st.sampled_from([7, 9])

    @rule(number=numbers, head=st.sampled_from(sorted(HEADS)), edits=st.booleans(), forced=st.booleans())
    def push(self, number: int, head: str, edits: bool, forced: bool) -> None:
        """A plain push is to a new head only; everything else is a force-push, and GitHub says so."""
        pull, at = self.world.pulls[number], self.tick()
        self.edited.setdefault(head, edits)
        pull.files = ["x.py", *([CHECK] if self.edited[head] else [])]
        if forced or (number, head) in self.heads:
            pull.events.append({"event": "head_ref_force_pushed", "created_at": at, "actor": "mina"})
        pull.head_sha = head
        self.heads.add((number, head))
        count("pushes")
        self.looked_at(number, "synchronize")

    @rule(number=numbers, branch=st.sampled_from(sorted(BASES)))
    def retarget(self, number: int, branch: str) -> None:
        pull = self.world.pulls[number]
        if pull.base_ref == branch:
            return
        pull.events.append({"event": "base_ref_changed", "created_at": self.tick(), "actor": "mina"})
        pull.base_ref, pull.base_sha = branch, BASES[branch]
        count("retargets")
        self.looked_at(number, "edited")

    @rule(number=numbers)
    def close_or_reopen(self, number: int) -> None:
        pull = self.world.pulls[number]
        pull.state = "closed" if pull.state == "open" else "open"
        if pull.state == "open":
            pull.events.append({"event": "reopened", "created_at": self.tick(), "actor": "mina"})
            self.looked_at(number, "reopened")

    @rule(
        number=numbers,
        who=st.sampled_from(sorted(PEOPLE)),
        what=st.sampled_from(["override all", "vouch", "override nonsense"]),
        sha=st.sampled_from([*sorted(HEADS), "now"]),
        app=st.booleans(),
    )
    def comment(self, number: int, who: str, what: str, sha: str, app: bool) -> None:
        pull = self.world.pulls[number]
        named = pull.head_sha if sha == "now" else sha
        text = f"/gate {what} sha: {named} reason: {WHY}"
        made = self.world.comment(number, Actor(login=who), text)
        made.created = made.updated = self.tick()
        made.app = app
        count("comments")
        self.heard(number, "created", text)

    @precondition(lambda self: any(c.author.type == "User" for c in self.world.comments.values()))
    @rule(data=st.data(), deleted=st.booleans())
    def take_back(self, data: st.DataObject, deleted: bool) -> None:
        theirs = sorted(n for n, c in self.world.comments.items() if c.author.type == "User")
        comment = self.world.comments[data.draw(st.sampled_from(theirs))]
        if deleted:
            del self.world.comments[comment.id]
        else:
            comment.updated = self.tick()
        count("taken back")
        self.heard(comment.number, "deleted" if deleted else "edited", comment.body)

    # ---- what is deserved, by the rules alone: independent of the code under test

    def moved(self, number: int) -> str:
        """When head or base was last set otherwise than by a plain push."""
        return max((e["created_at"] for e in self.world.pulls[number].events), default="")

    def stands(self, number: int, what: str, roles: set[str]) -> bool:
        """Somebody entitled said it, about this head, and nothing voided it."""
        pull, moved = self.world.pulls[number], self.moved(number)
        return any(
            c.body.startswith(f"/gate {what} sha: {pull.head_sha} ")
            and c.created == c.updated
            and c.created > moved
            and not c.app
            and c.author.login != pull.author
            and PEOPLE.get(c.author.login, "") in roles
            for c in self.world.on(number)
        )
