"""Values near one that code compares with: those that a changed comparison takes for the same."""

from __future__ import annotations

from typing import Any

Encoded = Any
EDGES: tuple[Encoded, ...] = (None, "", False, True, 0, -1, "*", ["list", []], " ")
TEXTS: tuple[Encoded, ...] = (
    "",
    None,
    " ",
    "*",
    "0",
    "-1",
    "null",
    "true",
    "nan",
    "GATE",
    "../gate",
    "127.0.0.1",
)
NUMBERS: tuple[Encoded, ...] = (0, -1, 1, 255, 256, 65_536, 1 << 31, 1 << 64, ["float", "nan"], None)
_SPANS = (0, 1, 60, 3_600, 4 * 3_600, 86_400, 30 * 86_400, 400 * 86_400)
"""Seconds; hours are what time zones lie apart."""
_PLACES = ("url", "uri", "link", "redirect", "next", "origin", "callback", "target", "location", "referer")
_PATHS = ("path", "file", "filename", "name", "folder", "dir", "key")
_HOSTS = ("host", "hostname", "domain", "server", "netloc", "origin")


def near(path: str, how: str, told: Encoded) -> list[Encoded]:
    """Values to put at ``path``, which was compared so with ``told``."""
    if how == "true":
        return [False, True, None]
    if how == "is":  # the very text
        return [told, f"http://{told}/"] if any(word in path.lower() for word in _PLACES) else [told]
    if how == "hash" or told is None:
        return []
    if type(told) is bool:
        return [told, not told]
    if isinstance(told, str):
        return _texts(path.rpartition(".")[2].lower(), how, told)
    if isinstance(told, (int, float)):
        step = [told, told + 1, told - 1, 0, -told]
        return [int(one) if float(one).is_integer() else one for one in step]
    word, value = told[0], told[1]
    if word in ("clock", "clock-ms", "time", "span"):
        spans = (
            value,
            value - _SPANS[-1],
            *(value + one for one in _SPANS[1:]),
            *(value - one for one in _SPANS[1:-1]),
        )
        return [[word, one, *told[2:]] for one in spans]
    if word == "same":
        return [told, "", None]
    if word == "bytes":
        raw = bytes.fromhex(value)
        return [["bytes", one.hex()] for one in (raw, b"", raw[:-1], raw + b"x")]
    return [told]


def _texts(leaf: str, how: str, text: str) -> list[Encoded]:
    if how in ("begins", "ends") and any(word in leaf for word in _PLACES):
        text = text.strip("/").removeprefix("https:").removeprefix("http:").strip("/") or text
        under = text.lstrip(".")
        found: list[Encoded] = [
            f"https://{text}/",
            f"https://gate{text}/",
            f"https://gate.{under}/",
            f"http://{text}/",
        ]
        return [
            *found,
            *(f"https://{text}{end}/" for end in (".gate.invalid", "@gate.invalid", "-gate.invalid")),
        ]
    if how == "begins":
        return [
            text + "gate",
            text,
            text + "../gate",
            text.rstrip("/") + "-gate",
            " " + text + "gate",
            text.upper() + "gate",
        ]
    if how == "ends":
        return [
            "gate" + text,
            text,
            "gate." + text.lstrip("."),
            "gate" + text.lstrip("."),
            "gate" + text + "\n",
        ]
    if how == "has":
        return ["gate" + text + "gate", text, "gate"]
    found = [
        text,
        text.swapcase(),
        text + " ",
        " " + text,
        text + "x",
        "x" + text,
        text[:-1],
        text + "\n",
    ]
    found += [_wide(text), text + "\0", ["list", [text]], f"{text},gate", f"gate {text}"]
    if any(word in leaf for word in _PLACES):
        found += [f"https://{text}/", f"https://{text}.gate.invalid/", f"https://gate-{text}/", f"https://{text}@gate.invalid/",
                  f"//{text}/", f"https://gate.invalid/{text}"]  # fmt: skip
    if any(word in leaf for word in _HOSTS):
        found += [f"gate.{text}", f"gate{text}", f"{text}.gate.invalid", f"{text}.", f"{text}:8080"]
    if any(word in leaf for word in _PATHS):
        found += [f"{text}/gate", f"{text}-gate/x", f"{text}/../gate"]
    if text.isdigit():
        found += [str(int(text) + 1), str(max(0, int(text) - 1)), f"0{text}", f"{text}.0"]
    return list({repr(one): one for one in found}.values())


def places(told: Encoded) -> list[Encoded]:
    """Places beside and below one that stands in the code."""
    if not isinstance(told, str) or not told.startswith("/") or len(told) < 3:
        return []
    last = told.rstrip("/").rpartition("/")[2]
    return [
        f"{told}/gate",
        f"{told}-gate/x",
        f"../{last}-gate/x",
        f"{told}/../gate",
        f"gate/../../{last}-gate",
    ]


def _wide(text: str) -> str:
    """The first letter as its full-width form, which case folding and NFKC make the same again."""
    return chr(ord(text[0]) + 0xFEE0) + text[1:] if text and "!" <= text[0] <= "~" else text


def copies(told: Encoded, text: str) -> list[Encoded]:
    """Values near the one that stands elsewhere: ``text`` is what stands there where nothing is given."""
    return [
        told,
        text.upper(),
        text + " ",
        text[:-1],
        text + "x",
        text[:4],
        "",
        None,
        f"x{text}",
        _wide(text),
    ]
