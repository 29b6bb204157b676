"""What moves and is compared over the whole change: what is alike goes first, what is left is told."""

from __future__ import annotations

import ast

import pytest

from gate.protections.bulk import bulk_facts
from gate.protections.domains import domain_facts
from gate.protections.facts import FileFacts, Members, Strength
from gate.protections.members import member_losses
from gate.protections.neighbours import is_beside
from gate.protections.overall.compare import overall_losses
from gate.protections.overall.facts import overall_facts
from gate.protections.overall.python import python_script
from gate.protections.python.keyrings import empty_key_facts
from gate.protections.python.traits import python_words


def _facts(*amounts: int) -> FileFacts:
    return FileFacts(
        overall=tuple(
            Strength(what="a thing", amount=one, text=f"call {at}", line=at)
            for at, one in enumerate(amounts, 1)
        )
    )


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        ({"a": _facts(2)}, {"a": _facts(1)}, ["a:1"]),
        ({"a": _facts(2)}, {"b": _facts(1)}, ["b:1"]),
        ({"a": _facts(2, 1)}, {"a": _facts(1)}, []),  # the strong one was deleted
        ({"a": _facts(2)}, {"a": _facts(2, 1)}, []),  # a new weak one took nothing away
        ({"a": _facts(2)}, {"a": _facts(), "b": _facts(2)}, []),  # it moved
        ({"a": _facts(1)}, {"a": _facts(2)}, []),
        ({"a": _facts(2, 2)}, {"a": _facts(1, 1, 1)}, ["a:1", "a:2"]),
        ({}, {"a": _facts(1)}, []),
    ],
)
def test_what_is_worth_less(base: dict[str, FileFacts], head: dict[str, FileFacts], told: list[str]) -> None:
    assert [f"{loss.path}:{loss.line}" for loss in overall_losses(base, head)] == told


def _said(text: str) -> dict[str, list[float]]:
    tree = ast.parse(text)
    found: dict[str, list[float]] = {}
    for one in overall_facts(python_script(tree, python_words(tree))):
        found.setdefault(one.what, []).append(one.amount)
    return found


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("signing.loads(token, salt='reset')", [2]),
        ("signing.loads(token, max_age=60)", [1]),
        ("json.loads(text)", []),
        ("Signer(salt='a')", [2]),
        ("URLSafeTimedSerializer(KEY, 'reset')", [2]),
        ("server.starttls(context=ssl.create_default_context())", [2]),
        ("server.starttls()", [1]),
        ("imaplib.IMAP4_SSL(HOST, ssl_context=CONTEXT)", [2]),
        ("poplib.POP3_SSL(HOST)", [1]),
        ("grpc.insecure_channel(HOST)", [1]),
        ("all(scope in scopes for scope in wanted)", [2]),
        ("any(scope in scopes for scope in wanted)", [1]),
        ("any(word in text for word in words)", []),
        ("set(wanted) <= granted", [2]),
        ("count <= limit", []),
        ("path.startswith(root_dir + os.sep)", [1, 2]),
        ("name.startswith('a')", []),
    ],
)
def test_what_one_call_says(text: str, amounts: list[float]) -> None:
    assert [amount for found in _said(text).values() for amount in found] == amounts


def test_a_resolved_path_is_known_by_any_call_of_its_function() -> None:
    body = "def find(root, path):\n    path = {}\n    return path.is_relative_to(root)\n"
    what = "paths that are resolved before it is asked where they lie"
    assert _said(body.format("path.resolve()"))[what] == [2]
    assert _said(body.format("clean_path(path)"))[what] == [2]
    assert _said(body.format("root / path"))[what] == [1]


@pytest.mark.parametrize(
    ("test", "amounts"),
    [
        ("one.state != 'rejected'", [2]),
        ("one.state not in ('rejected', 'failed')", [2]),
        ("not one.is_rejected", [2]),
        ("one.state == 'settled'", [1]),
        ("one.is_booked", [1]),
        ("one.name == 'settled'", []),
    ],
)
def test_states_that_a_sum_counts(test: str, amounts: list[float]) -> None:
    text = f"def left(p):\n    return p.cents - sum(one.cents for one in p.refunds if {test})\n"
    assert [a for found in _said(text).values() for a in found] == amounts
    assert _said(text.replace("left", "shown").replace("cents", "words")) == {}, "no limit, no amount"


def _members(is_open: bool, *names: str) -> FileFacts:
    return FileFacts(members=(Members(name="Form", open=is_open, names=names, text="Form", line=3),))


@pytest.mark.parametrize(
    ("base", "head", "taken"),
    [
        (_members(True, "role", "clinic"), _members(True, "clinic"), "takes role"),
        (_members(True, "role"), _members(False, "name"), ""),
        (_members(True, "role"), _members(False, "name", "role"), "takes role"),
        (_members(False, "name"), _members(False, "name", "owner"), "takes owner"),
        (_members(False, "name"), _members(False, "name", "language"), ""),
        (_members(False, "name"), _members(True), "takes everything"),
        (_members(False, "name"), _members(True, "role"), ""),
        (_members(False, "name", "price"), _members(False, "name"), ""),
    ],
)
def test_keys_that_are_newly_taken(base: FileFacts, head: FileFacts, taken: str) -> None:
    found = [loss.after for loss in member_losses({"a.py": base}, {"b.py": head})]
    assert [text.partition(":")[0] for text in found] == ([taken] if taken else [])


def test_a_form_of_another_name_is_another_form() -> None:
    other = FileFacts(members=(Members(name="Other", open=True, names=(), text="Other", line=1),))
    assert [*member_losses({"a.py": _members(False, "name")}, {"a.py": other})] == []


@pytest.mark.parametrize(
    ("name", "shown", "text", "told"),
    [
        ("visible_to", 'user.email.rpartition("@")', "", True),
        ("can_read", 'user.email.split("@")', "", True),
        ("can_read", 'user.email.split("@")', "if not user.email_verified: return False", False),
        ("by_firm", 'user.email.split("@")', "", False),
        ("can_read", 'text.split(",")', "", False),
    ],
)
def test_rights_by_the_domain_of_an_address(name: str, shown: str, text: str, told: bool) -> None:
    called = shown.partition("(")[0].rpartition(".")[2]
    assert bool([*domain_facts(name, [(called, shown, 1)], text)]) is told


def test_rows_written_past_their_model() -> None:
    each = ("save", "worker.save()", (), 1)
    past = ("update", "Worker.objects.filter(pk=1).update(role=role)", ("role",), 1)
    plain = ("update", "Worker.objects.filter(pk=1).update(colour=c)", ("colour",), 1)
    assert [len([*bulk_facts(many)]) for many in ([each], [past], [plain], [each, past])] == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("[env['A_KEY'], env.get('B_KEY', '')]", True),
        ("[env['A_KEY'], env.get('B_KEY') or '']", True),
        ("(env['A_KEY'].encode(), env.get('B_KEY', '').encode())", True),
        ("[env['A_KEY'], env['B_KEY']]", False),
        ("[key for key in (env['A_KEY'], env.get('B_KEY', '')) if key]", False),
        ("[env['A_NAME'], env.get('B_NAME', '')]", False),
        ("[one for one in filter(None, [env['A_KEY'], env.get('B_KEY', '')])]", False),
    ],
)
def test_keys_in_a_list_that_may_be_empty(entries: str, told: bool) -> None:
    node = ast.parse(f"def keys(env):\n    return {entries}\n").body[0]
    assert isinstance(node, ast.FunctionDef)
    assert bool([*empty_key_facts(node)]) is told


@pytest.mark.parametrize(
    ("path", "new", "beside"),
    [
        ("app/members.py", "app/yearbook.py", True),
        ("app/members.js", "app/yearbook.py", False),
        ("src/orders/views.py", "src/bills/views.py", True),
        ("src/orders/orders.controller.ts", "src/bills/bills.controller.ts", True),
        ("src/orders/OrdersController.java", "src/bills/BillsController.java", True),
        ("src/orders/models.py", "src/bills/views.py", False),
        ("a/views.py", "b/views.py", False),
    ],
)
def test_who_stands_beside_a_new_file(path: str, new: str, beside: bool) -> None:
    assert is_beside(path, new) is beside
