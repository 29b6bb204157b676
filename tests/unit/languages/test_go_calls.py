"""What is put into a request of a Go text that sends one."""

from __future__ import annotations

import pytest

from gate.languages.sensitive_calls.parse import read_one

SENDS = """package relay

import "net/http"

func send(client *http.Client, body io.Reader, key string) error {
	request, err := http.NewRequest("POST", where, body)
%s
	_, err = client.Do(request)
	return err
}
"""


def lines(path: str, added: str) -> list[int]:
    return [call.first for call in read_one(path, (SENDS % added).encode(), {}).calls]


@pytest.mark.parametrize(
    "added",
    [
        '\trequest.Header.Set("X-Key", key)',
        '\trequest.Header.Add("X-Key", hex.EncodeToString(secret))',
        '\trequest.Header["X-Key"] = []string{key}',
        "\trequest.SetBasicAuth(user, key)",
        "\trequest.URL.RawQuery = key",
        "\trequest.Body = io.NopCloser(all)",
        "\trequest.AddCookie(cookie)",
    ],
)
def test_a_value_that_is_put_into_a_request_can_leave(added: str) -> None:
    assert 7 in lines("relay.go", added)


def test_a_value_in_the_query_can_leave() -> None:
    assert {7, 8} & set(lines("relay.go", '\tq := request.URL.Query()\n\tq.Set("k", key)'))


@pytest.mark.parametrize(
    "added",
    ['\tlog.Print("sent")', "\tcounter.Add(1)", '\tkey = request.Header.Get("X-Key")', "\tcache.Set(key, 1)"],
)
def test_what_a_request_does_not_carry_cannot(added: str) -> None:
    assert 7 not in lines("relay.go", added)


def test_a_header_counts_in_no_test() -> None:
    assert 7 not in lines("relay_test.go", '\trequest.Header.Set("X-Key", key)')
