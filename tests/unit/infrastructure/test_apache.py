"""Apache: one more way into a section, a condition that a client can meet, a section that is opened."""

from __future__ import annotations

from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

SITE: Final = """
<VirtualHost *:443>
    SetEnvIf User-Agent "^monitor/" monitor
    SetEnvIf Remote_Addr "^10[.]" inside
    Header always set Strict-Transport-Security "max-age=1"
    <Directory /srv/app/public>
        AllowOverride None
        Require all granted
    </Directory>
    <Location /queues>
        AuthType Basic
        AuthUserFile /etc/apache2/users
        {}
    </Location>
    {}
</VirtualHost>
"""
USER: Final = "Require valid-user"
BASE: Final = SITE.format(USER, "")
BOTH: Final = SITE.format(f"<RequireAll>\n{USER}\nRequire ip 10.0.0.0/8\n</RequireAll>", "")
WORSE: Final = (
    ("header-lets-in", BASE, SITE.format(f"<RequireAny>\n{USER}\nRequire env monitor\n</RequireAny>", "")),
    ("header-lets-in", BASE, SITE.format(f"{USER}\nRequire env monitor", "")),
    ("header-lets-in", BASE, SITE.format(f"{USER}\nRequire expr %{{HTTP_USER_AGENT}} =~ /mon/", "")),
    (
        "header-lets-in",
        BASE,
        SITE.format(f"{USER}\n<If \"req('X-Mon') == '1'\">\nRequire all granted\n</If>", ""),
    ),
    ("trusted", BASE, SITE.format(f"{USER}\nRequire env inside", "")),
    ("trusted", BASE, SITE.format(f"{USER}\nRequire ip 192.0.2.0/24", "")),
    ("anybody", BASE, SITE.format(f"{USER}\nRequire all granted", "")),
    ("authentication", BASE, SITE.format("Require all granted", "")),
    ("authentication", BASE, SITE.format("", "")),
    ("authentication", BASE, SITE.format(f"<Limit POST>\n{USER}\n</Limit>", "")),
    ("trusted", BOTH, BASE),
    ("covered", BOTH, SITE.format(f"<RequireAll>\n{USER}\n</RequireAll>", "")),
    ("weaker", SITE.format(f"Satisfy All\n{USER}", ""), SITE.format(f"Satisfy Any\n{USER}", "")),
    ("weaker", BASE, BASE.replace("AllowOverride None", "AllowOverride All")),
    ("response-header", BASE, BASE.replace("Header always set Strict", "# Strict")),
    ("route-unguarded", BASE, SITE.format(USER, "<Location /queues/api>\nRequire all granted\n</Location>")),
)
AS_GOOD: Final = (
    (BASE, BOTH),
    (BASE, SITE.format(f"<RequireAny>\n{USER}\n</RequireAny>", "")),
    (BASE, SITE.format(USER, "<Location /health>\nRequire all granted\n</Location>")),
    (BASE, SITE.format(f"# Require env monitor\n{USER}", "")),
    (BASE, SITE.format(f"<RequireAll>\n{USER}\nRequire not env monitor\n</RequireAll>", "")),
    (SITE.format("Require ip 10.0.0.0/8", ""), SITE.format("Require ip 10.1.0.0/16", "")),
)


def _told(base: str, head: str, path: str = "deploy/apache/site.conf") -> list[str]:
    old, new = (read(path, text.encode(), {}) for text in (base, head))
    return [one.fact.what for one in differences({path: old}, {path: new}, {})]


@pytest.mark.parametrize(("what", "base", "head"), WORSE)
def test_more_are_let_in(what: str, base: str, head: str) -> None:
    assert what in _told(base, head)
    assert _told(base, base) == []


@pytest.mark.parametrize(("base", "head"), AS_GOOD)
def test_nobody_more_is_let_in(base: str, head: str) -> None:
    assert _told(base, head) == []


def test_a_site_of_apache_is_known_by_what_it_holds() -> None:
    worse = SITE.format(f"{USER}\nRequire env monitor", "")
    assert "header-lets-in" in _told(BASE, worse, "etc/sites-available/a.conf")
    assert read("app.conf", b"require = 1\n<section>\n", {}).subjects == []
