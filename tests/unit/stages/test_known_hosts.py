"""Hosts that base's program code names, and what a first call of such a client weighs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.stages.known_hosts import hosts_named, hosts_of
from tests.prescreen_support import DictTree
from tests.unit.signals.cases import CLIENT, OUT, net
from tests.unit.signals.context import BY_ID, behaviour, context

HOST = "api.models.example"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("shop/client.py", f'URL = "https://{HOST}/v1"\n'),
        ("shop/client.py", f'def f(x):\n    return f"https://{HOST}/{{x}}"\n'),
        ("src/client.ts", f'const url = "https://{HOST.upper()}/v1";\n'),
        ("client.go", f'const host = "{HOST}:443"\n'),
    ],
)
def test_named_in_program_code(path: str, text: str) -> None:
    assert hosts_named(DictTree({path: text.encode()}), {HOST, "other.example"}) == {HOST}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", f"https://{HOST}\n"),
        ("tests/test_client.py", f'URL = "https://{HOST}/v1"\n'),
        ("examples/client.py", f'URL = "https://{HOST}/v1"\n'),
        ("shop/client.py", f"# https://{HOST}/v1\nX = 1\n"),
        ("shop/client.py", f'"""See https://{HOST}/v1."""\nX = 1\n'),
        ("shop/client.py", f'URL = "https://{HOST}.evil.example"\n'),
        ("shop/client.py", f'URL = "https://not-{HOST}"\n'),
        ("src/client.ts", f"// https://{HOST}/v1\n"),
        ("shop/client.py", f'URL = "https://{HOST}'),
    ],
)
def test_named_elsewhere_is_not_known(path: str, text: str) -> None:
    assert hosts_named(DictTree({path: text.encode()}), {HOST}) == frozenset()


def test_a_host_on_which_everybody_may_have_an_account_is_not_known() -> None:
    tree = DictTree({"shop/client.py": b'URL = "https://github.com/us/tool"\n'})
    assert hosts_named(tree, {"github.com"}) == frozenset()


def test_hosts_of_behaviours_are_names() -> None:
    seen = hosts_of((*CLIENT, OUT, net("10.0.0.8:443", "private"), behaviour("dns", "db")))
    assert seen == {"api.example"}


@pytest.mark.parametrize("rule", ["new-outbound-connection", "name-lookup"])
@pytest.mark.parametrize(
    ("phase", "known", "weight"),
    [("call", True, "medium"), ("call", False, "high"), ("import", True, "high")],
)
def test_a_client_that_base_had_weighs_less_when_it_is_called(
    rule: str, phase: str, known: bool, weight: str
) -> None:
    hosts = frozenset({"api.example"}) if known else frozenset[str]()
    told = replace(context(*CLIENT, phase=phase), hosts_at_base=hosts)  # type: ignore[arg-type]
    assert {f.severity.value for f in BY_ID[rule].check(told)} == {weight}


@pytest.mark.parametrize(
    ("variable", "host", "phase", "known", "scheme", "weight"),
    [
        ("env:SIMKL_SECRET", "api.simkl.example", "call", True, "https", "medium"),
        ("env:SIMKL_SECRET", "api.simkl.example", "call", False, "https", "critical"),
        ("env:SIMKL_SECRET", "api.simkl.example", "import", True, "https", "critical"),
        ("env:SIMKL_SECRET", "api.simkl.example", "call", True, "http", "critical"),
        ("env:SIMKL_SECRET", "secret.other.example", "call", True, "https", "critical"),
        ("aws-credentials", "api.simkl.example", "call", True, "https", "critical"),
    ],
)
def test_a_services_own_key_on_its_way_to_that_service_is_no_theft(
    variable: str, host: str, phase: str, known: bool, scheme: str, weight: str
) -> None:
    left = behaviour(
        "canary", f"{variable} in http-body", channel="http-body", canary=variable, to=host, encoding="raw"
    )
    asked = behaviour("http", f"POST {host}/token", host=host, scheme=scheme, port="443")
    hosts = frozenset({host}) if known else frozenset[str]()
    told = replace(context(left, asked, phase=phase), hosts_at_base=hosts)  # type: ignore[arg-type]
    (found,) = BY_ID["canary-leaves"].check(told)
    assert (found.severity.value, found.hard_block) == (weight, weight == "critical")
