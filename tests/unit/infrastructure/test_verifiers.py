"""What files of verification exempt, and whose word they take: more of it is told, updates are not."""

from __future__ import annotations

from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

GRADLE: Final = """<?xml version="1.0"?>
<verification-metadata xmlns="https://schema.gradle.org/dependency-verification">
 <configuration><verify-metadata>true</verify-metadata><verify-signatures>true</verify-signatures>
  <trusted-artifacts>{}</trusted-artifacts><trusted-keys>{}</trusted-keys></configuration>
 <components><component group="org.acorn" name="core" version="1.4.2">
  <artifact name="core-1.4.2.jar"><sha256 value="aa"/></artifact></component></components>
</verification-metadata>
"""
DOCS: Final = '<trust file=".*-javadoc[.]jar" regex="true"/>'
KEY: Final = '<trusted-key id="AA" group="org.acorn"/>'
VET: Final = """
[[audits.itoa]]
who = "a"
criteria = "safe-to-deploy"
version = "1.0.14"
[[trusted.serde]]
criteria = "safe-to-deploy"
user-id = 3618
"""
POLICY: Final = (
    '{{"default": [{{"type": "{}"}}], "transports": {{"docker": {{"r.example/a": [{{"type": "{}"}}]}}}}}}'
)
NUGET: Final = (
    "<configuration><trustedSigners><repository name='r'><certificate fingerprint='{}'/>"
    "{}</repository></trustedSigners></configuration>"
)
OWNERS: Final = "<owners>acorn</owners>"
META: Final = "gradle/verification-metadata.xml"
MORE: Final = (
    (
        META,
        GRADLE.format(DOCS, KEY),
        GRADLE.format('<trust file=".*(-javadoc|-sources)?[.]jar" regex="true"/>', KEY),
    ),
    (META, GRADLE.format(DOCS, KEY), GRADLE.format(f'{DOCS}<trust group="org.acorn"/>', KEY)),
    (META, GRADLE.format(DOCS, KEY), GRADLE.format(f'{DOCS}<trust group="org[.].*" regex="true"/>', KEY)),
    (META, GRADLE.format(DOCS, KEY), GRADLE.format(DOCS, f'{KEY}<trusted-key id="BB"/>')),
    (
        META,
        GRADLE.format(DOCS, KEY),
        GRADLE.format(DOCS, f'{KEY}<trusted-key id="BB" group=".*" regex="true"/>'),
    ),
    (
        META,
        GRADLE.format(DOCS, KEY),
        GRADLE.format(DOCS, KEY).replace(">true</verify-sig", ">false</verify-sig"),
    ),
    ("supply-chain/audits.toml", VET, f"{VET}[[wildcard-audits.time]]\nwho = 'a'\nuser-id = 99\n"),
    ("supply-chain/audits.toml", VET, f"{VET}[[trusted.time]]\nuser-id = 99\n"),
    (
        "supply-chain/config.toml",
        "[cargo-vet]\n",
        "[cargo-vet]\n[imports.x]\nurl = 'https://x.example/a.toml'\n",
    ),
    (
        "etc/policy.json",
        POLICY.format("reject", "signedBy"),
        POLICY.format("reject", "insecureAcceptAnything"),
    ),
    (
        "etc/policy.json",
        POLICY.format("reject", "signedBy"),
        POLICY.format("insecureAcceptAnything", "signedBy"),
    ),
    ("nuget.config", NUGET.format("aa", OWNERS), NUGET.format("aa", "<owners>acorn;other</owners>")),
    ("nuget.config", NUGET.format("aa", OWNERS), NUGET.format("bb", OWNERS)),
    ("nuget.config", NUGET.format("aa", OWNERS), NUGET.format("aa", "")),
)
AS_GOOD: Final = (
    (
        META,
        GRADLE.format(DOCS, KEY),
        GRADLE.format(f'{DOCS}<trust file=".*-sources[.]jar" regex="true"/>', KEY),
    ),
    (META, GRADLE.format(DOCS, KEY), GRADLE.format(f'{DOCS}<trust file=".*[.]asc" regex="true"/>', KEY)),
    (META, GRADLE.format(DOCS, KEY), GRADLE.format(DOCS, f'{KEY}<trusted-key id="BB" group="org.other"/>')),
    (
        META,
        GRADLE.format(DOCS, KEY),
        GRADLE.format(DOCS, f'{KEY}<trusted-key id="BB"><trusting group="x.y"/></trusted-key>'),
    ),
    (
        META,
        GRADLE.format('<trust group="org.acorn" name="core" version="1.4.2"/>', KEY),
        GRADLE.format('<trust group="org.acorn" name="core" version="1.4.3"/>', KEY).replace(
            "1.4.2", "1.4.3"
        ),
    ),
    ("supply-chain/audits.toml", VET, f"{VET}[[trusted.serde_json]]\nuser-id = 3618\n"),
    ("supply-chain/audits.toml", VET, f"{VET}[[exemptions.time]]\nversion = '0.3.38'\n"),
    (
        "etc/policy.json",
        POLICY.format("reject", "insecureAcceptAnything"),
        POLICY.format("reject", "signedBy"),
    ),
    ("nuget.config", NUGET.format("aa", "<owners>acorn;other</owners>"), NUGET.format("aa", OWNERS)),
)


def _told(path: str, base: str, head: str) -> list[str]:
    old, new = (read(path, text.encode(), {}) for text in (base, head))
    return [one.fact.what for one in differences({path: old}, {path: new}, {})]


@pytest.mark.parametrize(("path", "base", "head"), MORE)
def test_more_is_trusted(path: str, base: str, head: str) -> None:
    assert _told(path, base, head)
    assert not _told(path, base, base)


@pytest.mark.parametrize(("path", "base", "head"), AS_GOOD)
def test_nothing_more_is_trusted(path: str, base: str, head: str) -> None:
    assert _told(path, base, head) == []


def test_what_is_no_xml_says_nothing() -> None:
    assert read(META, b"<trust", {}).widths == []
