"""Options whose value decides: how names and values are spelt, which value is worth less."""

from __future__ import annotations

import ast

import pytest

from gate.protections.facts import Strength
from gate.protections.options import (
    OPTION,
    left_out,
    option_of,
    option_strength,
    parameters_of,
    query_of,
    spelt,
    unset_step,
)
from gate.protections.python.options import options_in
from gate.protections.python.strengths import constants_of
from gate.protections.strengths import weakened


def _amount(name: str, *values: str) -> float:
    made = option_strength(name, values, "", 1)
    assert made is not None
    return made.amount


def _read(text: str) -> dict[str, float]:
    tree = ast.parse(text)
    return {one.what.removeprefix(OPTION): one.amount for one in options_in(tree.body, constants_of(tree))}


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ('"Referrer-Policy"', "referrer_policy"),
        ("trust proxy", "trust_proxy"),
        ("RequireAndVerifyClientCert", "require_and_verify_client_cert"),
        ("http://apache.org/xml/features/disallow-doctype-decl", "disallow_doctype_decl"),
        ("*", "*"),
        ("", ""),
    ],
)
def test_names_have_one_spelling(word: str, plain: str) -> None:
    assert spelt(word) == plain


@pytest.mark.parametrize(
    ("name", "safe", "unsafe"),
    [
        ("sameSite", ("Lax",), ("None",)),
        ("SESSION_COOKIE_SAMESITE", ("Strict",), ("None",)),
        ("trust proxy", ("loopback",), ("true",)),
        ("Referrer-Policy", ("no-referrer",), ("unsafe-url",)),
        ("algorithms", ("RS256", "ES256"), ("RS256", "HS256")),
        ("algorithms", ("HS256",), ("HS256", "none")),
        ("CELERY_ACCEPT_CONTENT", ("json",), ("json", "pickle")),
        ("Loader", ("SafeLoader",), ("FullLoader",)),
        ("sslmode", ("verify-full",), ("require",)),
        ("ClientAuth", ("VerifyClientCertIfGiven",), ("RequireAnyClientCert",)),
        ("audience", ("shop",), ("None",)),
        ("allow_origins", ("https://a.example",), ("*",)),
        ("MinVersion", ("VersionTLS12",), ("VersionTLS11",)),
    ],
)
def test_a_value_is_worth_less(name: str, safe: tuple[str, ...], unsafe: tuple[str, ...]) -> None:
    before = option_strength(name, safe, "", 1)
    after = option_strength(name, unsafe, "", 1)
    assert before is not None
    assert after is not None
    assert [*weakened([before], [after])] == [(before, after)]
    assert [*weakened([after], [before])] == []


@pytest.mark.parametrize("name", ["path", "timeout", "name", "insecure", "extras", "origins", "same"])
def test_other_names_are_no_options(name: str) -> None:
    assert option_of(name) is None


def test_values_that_nobody_knows_are_worth_nothing() -> None:
    assert option_strength("secure", None, "", 1) is None
    assert option_strength("secure", ["PRODUCTION"], "", 1) is None
    assert option_strength("algorithms", ["RS256", "own"], "", 1) is None


def test_names_of_one_kind_stay_apart() -> None:
    one = option_strength("check_hostname", ["true"], "", 1)
    other = option_strength("verify_ssl", ["false"], "", 1)
    assert one is not None
    assert other is not None
    assert [*weakened([one], [other])] == []


def test_what_is_not_set_is_safe_only_where_it_is() -> None:
    assert unset_step(f"{OPTION}trust_remote_code") == 2
    assert unset_step(f"{OPTION}follow_redirects") == 0
    assert unset_step("lifetime") == 0
    on = Strength(what=f"{OPTION}trust_remote_code", amount=1, text="", line=3)
    assert [after for _, after in weakened([], [on])] == [on]


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["path", "maxAge"], ["http_only", "secure"]),
        (["path", "httpOnly", "secure"], []),
        (["issuer", "algorithms"], ["audience"]),
        (["issuer"], []),
        (["path"], []),
        (["name", "title"], []),
    ],
)
def test_a_mapping_leaves_out(names: list[str], missing: list[str]) -> None:
    assert [one.what.removeprefix(OPTION) for one in left_out(names, 1)] == missing


def test_parameters_of_an_address_are_shown_without_the_address() -> None:
    address = "rediss://:word@queue.example/0?ssl_cert_reqs=none&page=2"
    assert [(one.text, one.amount) for one in parameters_of(address, 1)] == [("ssl_cert_reqs=none", 1)]
    assert query_of("what is this? a=b") == []
    assert query_of("http://[?a=b") == []


@pytest.mark.parametrize(
    ("text", "what", "amount"),
    [
        ("OPTIONS = {'follow_redirects': True}", "follow_redirects", 1),
        ("ON = False\ncall(follow_redirects=ON)", "follow_redirects", 2),
        ("context.check_hostname = False", "check_hostname", 1),
        ("context.verify_mode = ssl.CERT_NONE", "verify_mode", 1),
        ("made.setFeature('disallow-doctype-decl', True)", "disallow_doctype_decl", 2),
        ("app.config['SESSION_COOKIE_SAMESITE'] = 'None'", "same_site", 1),
        ("accept_content = frozenset(['json', 'pickle'])", "accept_content", 1),
        ("box.decrypt(nonce, data, None)", "associated data", 1),
        ("box.decrypt(nonce, data, owner)", "associated data", 2),
        ("def f(n):\n if not re.match('^[a-z]+$', n): raise E", "whole match", 2),
        ("def f(n):\n if not re.match('(?m)^[a-z]+$', n): raise E", "whole match", 1),
        ("def f(n):\n return P.fullmatch(n)", "whole match", 2),
    ],
)
def test_python_is_read(text: str, what: str, amount: float) -> None:
    assert _read(text)[what] == amount


@pytest.mark.parametrize(
    "text",
    [
        "call(follow_redirects=chosen)",
        "box.encrypt(data)",
        "x = re.search('a', n)",
        "if P.search(n): raise E",
        "call(loader=loader)",
        "SETUP = {**BASE, 'path': '/', 'max_age': 3}",
        "'https://a.example/?q=sslmode'",
    ],
)
def test_python_that_sets_no_option(text: str) -> None:
    assert _read(text) == {}


def test_a_step_is_a_number_from_one() -> None:
    assert _amount("dotfiles", "allow") == 1
    assert _amount("dotfiles", "deny") == 2
