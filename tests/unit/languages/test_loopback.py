"""Which network calls of tests go no farther than this machine."""

from __future__ import annotations

import pytest

from gate.languages.sensitive_calls.parse import read_one
from gate.model.sensitive import SensitiveKind

HERE = [
    'HTTPConnectionPool(host="localhost", port=80)',
    'requests.get(f"http://127.0.0.1:{port}/a")',
    'requests.get(f"http://localhost:{server.port}/a")',
    'requests.request("GET", "http://localhost/")',
    'requests.post("http://[::1]:8000/a", data=x)',
    'socket.create_connection(("localhost", 80))',
    'pool = HTTPConnectionPool("localhost", 80)\npool.urlopen("GET", path)',
]
AWAY = [
    'requests.get("http://localhost.x.example/")',
    'requests.get("http://localhost:80@x.example/")',
    'requests.get(f"http://localhost:{where}/")',
    'requests.get(f"http://localhost:{port}@x.example/")',
    'requests.get(f"http://localhost{rest}/")',
    'requests.get(f"http://127.0.0.1{rest}")',
    'HTTPConnectionPool(host=where, server="localhost")',
    'requests.request("GET", url, addr="localhost")',
    'requests.get("http://localhost@x.example/")',
    'requests.post(url, "localhost")',
    'requests.post("http://x.example/", json={"url": "http://localhost/"})',
    'requests.request("GET", url, data="localhost")',
    'pool = HTTPConnectionPool(host, 80)\npool.urlopen("GET", "localhost")',
    's = requests.Session()\ns.get(url)',
]  # fmt: skip
IMPORTS = "import requests, socket\nfrom urllib3 import HTTPConnectionPool\n"


def _network(path: str, text: str) -> bool:
    calls = read_one(path, (IMPORTS + text).encode(), {}).calls
    return any(call.kind is SensitiveKind.NETWORK and call.way != "read" for call in calls)


@pytest.mark.parametrize("text", HERE)
def test_a_test_may_ask_its_own_server(text: str) -> None:
    assert not _network("tests/test_a.py", text)
    assert _network("src/shop/a.py", text)  # of a product, a service of this machine is somebody's, too


@pytest.mark.parametrize("text", AWAY)
def test_what_goes_elsewhere_is_told_of_tests_too(text: str) -> None:
    assert _network("tests/test_a.py", text)
