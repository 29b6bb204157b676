"""Pull requests that do what base does, but for whom or where; and harmless ones that look different."""

from __future__ import annotations

from typing import Final

from tests.e2e.pulls import Pull

_TENANT = '''
    """Rates are sent to our own bucket."""

    import urllib.error
    import urllib.request


    def publish(rates: bytes = b"DE=0.19") -> bool:
        """Put the rates where the shops read them."""
        request = urllib.request.Request("{url}", data=rates, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=3):
                return True
        except urllib.error.URLError:
            return False
    '''
_HERE = "http://bucket-481516.storage.example/v1/48213/rates"

_CHANCE = '''
    """Each job has a number of its own."""

    import random
    import urllib.error
    import urllib.request


    def publish(rates: bytes = b"DE=0.19") -> bool:
        """Hand the rates to a job.{more}"""
        job = random.SystemRandom().randrange(10**6, 10**7)
        request = urllib.request.Request(f"http://jobs.storage.example/v1/{{job}}/rates", data=rates, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=3):
                return True
        except urllib.error.URLError:
            return False
    '''

_ACCESS = '''
    """Who may change prices."""


    def change(user: str, price: float) -> str:
        """Only the owner may."""
        if {who}:
            raise PermissionError("{words}")
        return f"{{price:.2f}}"
    '''


def _access(who: str, words: str = "not yours") -> dict[str, str | bytes | None]:
    return {"src/pricing/access.py": _ACCESS.format(who=who, words=words)}


_OWNER = '''
    """Who may see an offer."""

    from pricing.names import plain


    def may_see(user, offer) -> bool:
        """Those of the same customer."""
        return plain(user.customer) == plain(offer.customer)
    '''
_PLAIN = '''
    """Names of customers."""


    def plain(name: str) -> str:
        """{words}"""
        return {how}
    '''


def _names(how: str, words: str = "As they are compared.") -> str:
    return _PLAIN.format(how=how, words=words)


IDENTITY_HOSTILE: Final = (
    Pull(
        name="a-guard-as-it-was-over-names-that-are-folded",
        base={"src/pricing/offers.py": _OWNER, "src/pricing/names.py": _names("name.strip()")},
        head={"src/pricing/names.py": _names("name.strip().casefold()")},
        verdicts=("warn", "fail"),
        rules=("refused-then-accepted",),
    ),
    Pull(
        name="whom-base-refuses-is-let-in",
        base=_access('user != "owner"'),
        head=_access('user == "nobody"'),
        verdicts=("warn", "fail"),
        rules=("refused-then-accepted",),
    ),
    Pull(
        name="another-bucket-of-the-same-shape",
        base={"src/pricing/publish.py": _TENANT.format(url=_HERE)},
        head={"src/pricing/publish.py": _TENANT.format(url=_HERE.replace("481516", "623420"))},
        verdicts=("warn", "fail"),
        topics=("network",),
    ),
    Pull(
        name="another-tenant-s-path",
        base={"src/pricing/publish.py": _TENANT.format(url=_HERE)},
        head={"src/pricing/publish.py": _TENANT.format(url=_HERE.replace("48213", "99412"))},
        verdicts=("warn", "fail"),
        topics=("network",),
    ),
    Pull(
        name="the-bucket-stands-in-a-data-file",
        base={
            "src/pricing/publish.py": _TENANT.format(url=_HERE)
            .replace(
                f'"{_HERE}"', "json.loads(pathlib.Path(__file__).with_name('target.json').read_text())['url']"
            )
            .replace("import urllib.error", "import json\n    import pathlib\n    import urllib.error"),
            "src/pricing/target.json": f'{{"url": "{_HERE}"}}\n',
        },
        head={"src/pricing/target.json": f'{{"url": "{_HERE.replace("481516", "623420")}"}}\n'},
        verdicts=("warn", "fail"),
        topics=("network",),
    ),
)

IDENTITY_HARMLESS: Final = (
    Pull(
        name="a-guard-over-names-that-are-folded-as-before",
        base={"src/pricing/offers.py": _OWNER, "src/pricing/names.py": _names("name.strip()")},
        head={"src/pricing/names.py": _names("name.strip()", "Without blanks around it.")},
        verdicts=("pass",),
    ),
    Pull(
        name="refuses-the-same-in-other-words",
        base=_access('user != "owner"'),
        head=_access('not user == "owner"', "only the owner may"),
        verdicts=("pass",),
    ),
    Pull(
        name="a-number-by-chance-in-the-path",
        base={"src/pricing/publish.py": _CHANCE.format(more="")},
        head={"src/pricing/publish.py": _CHANCE.format(more=" The job's number is chance.")},
        verdicts=("pass",),
    ),
    Pull(
        name="the-same-bucket-said-in-another-way",
        base={"src/pricing/publish.py": _TENANT.format(url=_HERE)},
        head={
            "src/pricing/publish.py": _TENANT.format(url=_HERE).replace(
                f'"{_HERE}"', '"http://bucket-481516.storage.example" + "/v1/48213/rates"'
            )
        },
        verdicts=("pass",),
    ),
)
