"""What makes a value safe, and what comes in its place: generators, ciphers, templates, parsers.

The call stays (``rand.Read``), and another library answers it. Compared for a whole file, and only where the
safe one is gone and the other came. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.dataclass import dataclass
from gate.protections.facts import Family
from gate.protections.traits import MAKER, Fact, lapse, trait
from gate.regex import regex

Words = Mapping[str, int]
"""Names, short texts and imports (``import crypto/rand``) of a file, each with its line."""
LONGEST: Final = 48


@dataclass(frozen=True, kw_only=True, slots=True)
class _Maker:
    """``safe`` and ``unsafe`` match whole words; ``excused``: a word that says who makes it safe instead."""

    what: str
    family: Family
    safe: re.Pattern[str]
    unsafe: re.Pattern[str]
    excused: re.Pattern[str] | None = None


_XML: Final = r"import (?:xml\.etree(?:\.\w+)?|xml\.(?:sax|dom)(?:\.\w+)?|lxml(?:\.\w+)?)(?:\.\w+)?"
_MAKERS: Final = (
    _Maker(
        what="random values",
        family="integrity",
        safe=regex(r"import (?:crypto/rand|secrets(?:\.\w+)?|java\.security\.SecureRandom)"),
        unsafe=regex(r"import (?:math/rand(?:/v2)?|random(?:\.\w+)?|java\.util\.Random)"),
    ),
    _Maker(
        what="pages",
        family="escaping",
        safe=regex(r"import html/template"),
        unsafe=regex(r"import text/template"),
    ),
    _Maker(
        what="documents that are read",
        family="validation",
        safe=regex(r"import defusedxml(?:\.\w+)*"),
        unsafe=regex(_XML),
    ),
    _Maker(
        what="ciphertexts",
        family="integrity",
        safe=regex(
            r"(?:AESGCM|AESGCMSIV|AESCCM|AESSIV|AESOCB3|X?ChaCha20Poly1305|Fernet|MultiFernet|SecretBox|AesGcm"
            r"|AesCcm|Aes(?:128|256)Gcm|MODE_(?:GCM|EAX|CCM|OCB|SIV)|NewGCM\w*|NewX|GCM|GCMParameterSpec"
            r"|secretbox|crypto_aead_\w+)"
            r"|(?i:(?:id-)?aes[-/_]?\d*[-/_](?:gcm|ccm|ocb|siv)\b.*|chacha20-poly1305)"
        ),
        unsafe=regex(
            r"(?:modes|CipherMode)\.(?:CTR|CBC|CFB8?|OFB|ECB|XTS)|MODE_(?:CTR|CBC|CFB|OFB|ECB|OPENPGP)"
            r"|New(?:CTR|OFB|CBCEncrypter|CBCDecrypter|CFBEncrypter|CFBDecrypter)"
            r"|(?i:aes[-/_]?\d*[-/_](?:ctr|cbc|cfb8?|ofb|ecb)\b.*|chacha20)"
        ),
        excused=regex(r"(?i:.*hmac.*|.*poly1305.*)"),
    ),
)
_REGISTERING: Final = frozenset({"import net/http/pprof", "import expvar"})
"""Imports that answer requests of the whole server by themselves, and ask nobody."""


def maker_facts(words: Words) -> Iterator[Fact]:
    """What makes values safe in a file; what came in its place."""
    for maker in _MAKERS:
        safe = next((word for word in words if maker.safe.fullmatch(word)), None)
        kinds = [word for word in words if maker.unsafe.fullmatch(word)]
        if safe is not None and not kinds:  # where both are, nothing comes in the other's place
            yield trait(maker.family, f"{MAKER}{maker.what}", safe, words[safe])
        elif (
            safe is None
            and kinds
            and not (maker.excused and any(maker.excused.fullmatch(word) for word in words))
        ):
            key = f"{maker.what} by {kinds[0].removeprefix('import ')}"
            yield lapse(maker.family, key, key, words[kinds[0]], needs=(f"{MAKER}{maker.what}",))
    for word in sorted(_REGISTERING & words.keys()):
        key = f"{word.removeprefix('import ')} answers everybody"
        yield lapse("authentication", key, key, words[word])
