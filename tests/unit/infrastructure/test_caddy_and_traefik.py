"""Caddy's and Traefik's configuration: guards that ask fewer, routes beside them, and changes that are in order."""

# ruff: noqa: E501, ISC004 - a row of a table a line

from __future__ import annotations

import pytest

from gate.infrastructure.reader import read
from gate.prescreen.scanners.infrastructure import Infrastructure
from tests.prescreen_support import make_request

CADDY = """{
	servers {
		trusted_proxies static 10.20.0.0/16
	}
}

shop.example, www.shop.example {
	@admin path /admin /admin/*
	basic_auth @admin {
		ops $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT
	}
	header {
		Strict-Transport-Security "max-age=31536000"
		X-Frame-Options DENY
	}
	handle /files/* {
		forward_auth sso:9091 {
			uri /verify
		}
		reverse_proxy files:80
	}
	tls {
		client_auth {
			mode require_and_verify
		}
	}
	reverse_proxy https://app:8443
}
"""
TRAEFIK = """http:
  routers:
    app:
      rule: Host(`shop.example`)
      service: app
    admin:
      rule: Host(`shop.example`) && PathPrefix(`/admin`)
      middlewares: [sso]
      service: app
    other:
      rule: Host(`other.example`)
      service: app
  middlewares:
    sso:
      forwardAuth:
        address: http://sso:4181
    zip:
      compress: {}
"""
LABELS = """services:
  app:
    image: app
    labels:
      - traefik.http.routers.app.rule=Host(`shop.example`)
      - traefik.http.routers.admin.rule=Host(`shop.example`) && PathPrefix(`/admin`)
      - traefik.http.routers.admin.middlewares=sso-auth@file
"""
ROUTE = """apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata:
  name: shop
spec:
  routes:
    - match: Host(`shop.example`) && PathPrefix(`/admin`)
      middlewares:
        - name: sso-auth
      services:
        - name: app
    - match: Host(`shop.example`)
      services:
        - name: app
"""


def told(path: str, base: str, old: str, new: str) -> list[str]:
    assert old in base
    head = base.replace(old, new)
    for text in (base, head):
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = Infrastructure().scan(make_request({path: head}, {path: base})).findings
    return [f.rule_id for f in found if f.severity.value != "low"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("	@admin path /admin /admin/*", "	@admin {\n		path /admin /admin/*\n		not header X-A b\n	}"),
        ("@admin path /admin /admin/*", "@admin path /admin"),
        ("basic_auth @admin", "basic_auth /admin/login"),
        ("	basic_auth @admin {\n		ops $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT\n	}\n", ""),
        ("static 10.20.0.0/16", "static 10.20.0.0/16 0.0.0.0/0"),
        ("static 10.20.0.0/16", "static private_ranges"),
        ("mode require_and_verify", "mode request"),
        ("reverse_proxy https://app:8443", "reverse_proxy https://app:8443 {\n transport http {\n"
         "  tls_insecure_skip_verify\n }\n}"),
        ("		X-Frame-Options DENY\n", ""),
        ("	handle /files/*", "	handle /files/export/* {\n		reverse_proxy files:80\n	}\n	handle /files/*"),
        ("	servers {", "	admin 0.0.0.0:2019\n	servers {"),
        ("max-age=31536000", "max-age=60"),
    ],
)  # fmt: skip
def test_what_caddy_no_longer_keeps(old: str, new: str) -> None:
    assert told("deploy/Caddyfile", CADDY, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@admin path /admin /admin/*", "@admin path /admin /admin/* /metrics"),
        ("10.20.0.0/16", "10.20.0.0/24"),
        ("	handle /files/*", "	handle /static/* {\n		file_server\n	}\n	handle /files/*"),
        ("reverse_proxy https://app:8443", "encode zstd gzip\n	reverse_proxy https://app2:8443"),
        ("		ops $2a", "		kim $2a$14$aaa\n		ops $2a"),
        ("shop.example, www.shop.example {", "shop.example {"),
        ("	basic_auth @admin {", "	# who may\n	basic_auth @admin {"),
        ("}\n", "}\n\nnew.example {\n	reverse_proxy new:80\n}\n"),
    ],
)
def test_what_caddy_may_change(old: str, new: str) -> None:
    assert told("Caddyfile", CADDY, old, new) == []


def test_a_site_without_braces() -> None:
    base = "shop.example\nbasic_auth /admin* {\n a b\n}\nreverse_proxy app:80\n"
    assert told("Caddyfile", base, "basic_auth /admin* {\n a b\n}\n", "")
    assert told("Caddyfile", base, "app:80", "app:81") == []


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("traefik.yml", TRAEFIK, "      service: app\n    admin", "      priority: 900\n      service: app\n    admin"),
        ("traefik.yml", TRAEFIK, "Host(`shop.example`)\n",
         "Host(`shop.example`) && (PathPrefix(`/`) || PathPrefix(`/admin/export`))\n"),
        ("traefik.yml", TRAEFIK, "[sso]", "[zip]"),
        ("compose.yml", LABELS, "sso-auth@file", "zip@file"),
        ("compose.yml", LABELS, "      - traefik.http.routers.admin.rule",
         "      - traefik.http.routers.app.priority=999\n      - traefik.http.routers.admin.rule"),
        ("route.yml", ROUTE, "    - match: Host(`shop.example`)\n",
         "    - match: Host(`shop.example`)\n      priority: 300\n"),
        ("route.yml", ROUTE, "      middlewares:\n        - name: sso-auth\n", ""),
    ],
)  # fmt: skip
def test_what_traefik_no_longer_keeps(path: str, base: str, old: str, new: str) -> None:
    assert told(path, base, old, new)


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("traefik.yml", TRAEFIK, "[sso]", "[zip, sso]"),
        ("traefik.yml", TRAEFIK, "address: http://sso:4181", "address: http://sso2:4181"),
        ("traefik.yml", TRAEFIK, "Host(`other.example`)", "Host(`other.example`) && PathPrefix(`/a-long-path/of/it`)"),
        ("compose.yml", LABELS, "image: app", "image: app:2"),
        ("route.yml", ROUTE, "        - name: app\n    - match", "        - name: app2\n    - match"),
    ],
)  # fmt: skip
def test_what_traefik_may_change(path: str, base: str, old: str, new: str) -> None:
    assert told(path, base, old, new) == []


ROUTED = (
    "shop.example {\n	route {\n		forward_auth sso:9091\n		reverse_proxy app:8000\n	}\n}\n"
)
TASKS = "- hosts: db\n  tasks:\n    - name: Make the user\n      user: {password: x}\n      no_log: true\n"


def test_what_answers_before_the_guard() -> None:
    first, last = "		forward_auth", "		reverse_proxy app"
    assert told("Caddyfile", ROUTED, first, "		reverse_proxy /api/* app:8000\n" + first)
    assert told("Caddyfile", ROUTED, last, "		reverse_proxy /api/* api:8000\n" + last) == []


def test_a_task_that_is_logged() -> None:
    assert told("db.yml", TASKS, "      no_log: true\n", "      register: made\n")
    assert told("db.yml", TASKS, "no_log: true", "no_log: false")
    assert told("db.yml", TASKS, "password: x", "password: y") == []
    assert told("db.yml", TASKS, TASKS, "- hosts: db\n  tasks: []\n") == []
