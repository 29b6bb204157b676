"""Keys of shared caches: what an answer is kept under. One that forgets who asked gives a page to all.

CloudFront's policies in Terraform and CloudFormation, nginx, Varnish and Fastly (VCL), ``Vary``. Members are
only what tells users apart; a language or an encoding may leave a key without harm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gate.infrastructure.facts import FileFacts, Width
from gate.regex import regex

_USER: Final = regex(
    r"(?:^|[-_.])(?:authorization|authentication|cookies?|sessions?(?:id)?|sid|tokens?|jwt|auth|users?|remote[-_]user|accounts?"
    r"|tenants?|customers?|members?|api[-_]?key|email|identity|login|csrf)(?:$|[-_.])",
    re.IGNORECASE,
)
_NGINX: Final = ("proxy_cache_key", "fastcgi_cache_key", "uwsgi_cache_key", "scgi_cache_key")
_NOT_KEPT: Final = ("proxy_no_cache", "proxy_cache_bypass", "fastcgi_no_cache", "fastcgi_cache_bypass")
_VARIABLE: Final = regex(r"\$\{?(?:http_|cookie_|arg_|sent_http_)?(\w+)")
_HASHED: Final = regex(r"hash_data\s*\(\s*([^)]{1,200})\)")
_VARIES: Final = regex(r"\.http\.Vary\s*=\s*([^;]{1,200});", re.IGNORECASE)
_PASSED: Final = regex(r"if\s*\(([^{]{1,300})\)\s*\{\s*return\s*\(\s*pass\s*\)", re.IGNORECASE)
_NAMED: Final = regex(r"(?:req|bereq|beresp|obj)\.http\.([\w-]+)", re.IGNORECASE)
_COMMENT: Final = regex(r"(?m)(?:#|//)[^\n]*|/\*.*?\*/", re.DOTALL)
_BEHAVIOURS: Final = ("none", "whitelist", "allExcept", "all")


def is_vcl(path: str) -> bool:
    """Is this a program of Varnish or Fastly?"""
    return path.lower().endswith((".vcl", ".vcl.j2", ".vcl.tmpl"))


def by_user(names: list[str]) -> list[str]:
    """Those that tell users apart, in lower case."""
    return sorted({name.lower() for name in names if _USER.search(name)})


def policy_block(kind: str, values: Mapping[str, object], subject: str, line: int) -> Iterator[Width]:
    """One block of a policy in Terraform: ``headers { items = [...] }``, ``cookie_behavior = "none"``."""
    if "cache_policy" not in subject and "cloudfront_distribution" not in subject:
        return
    items = values.get("items", values.get("headers", values.get("whitelisted_names")))
    if kind in ("headers", "cookies", "forwarded_values") and (isinstance(items, list) or kind == "headers"):
        named = [str(one) for one in items] if isinstance(items, list) else []
        yield _covered(
            f"{subject} {kind}",
            line,
            by_user(["authorization", "cookie"] if "*" in named else named),
            str(items),
        )
    behaviour = str(values.get("cookie_behavior", values.get("forward", "")))
    if behaviour in _BEHAVIOURS:
        weak = float(len(_BEHAVIOURS) - _BEHAVIOURS.index(behaviour) >= len(_BEHAVIOURS))
        yield Width("weaker", f"{subject} {kind} cookies", line, f"cookies: {behaviour}", measure=weak)


def cloudformation(data: object, line_of: Callable[[tuple[str | int, ...]], int | None]) -> Iterator[Width]:
    """``AWS::CloudFront::CachePolicy`` in YAML or JSON."""
    resources = data.get("Resources") if isinstance(data, dict) else None
    for name, resource in resources.items() if isinstance(resources, dict) else ():
        if not isinstance(resource, dict) or resource.get("Type") != "AWS::CloudFront::CachePolicy":
            continue
        config: object = resource
        for key in ("Properties", "CachePolicyConfig", "ParametersInCacheKeyAndForwardedToOrigin"):
            config = config.get(key) if isinstance(config, dict) else None
        at = line_of(("Resources", str(name))) or 1
        for part, kind in (("HeadersConfig", "Headers"), ("CookiesConfig", "Cookies")):
            said = config.get(part) if isinstance(config, dict) else None
            items = said.get(kind) if isinstance(said, dict) else None
            named = [str(one) for one in items] if isinstance(items, list) else []
            yield _covered(f"{name} {kind}", at, by_user(named), f"{kind}: {named}")
        cookies = config.get("CookiesConfig") if isinstance(config, dict) else None
        behaviour = str(cookies.get("CookieBehavior", "none")) if isinstance(cookies, dict) else "none"
        yield Width(
            "weaker", f"{name} cookies", at, f"cookies: {behaviour}", measure=float(behaviour == "none")
        )


def nginx_key(words: list[str], path: str, block: str, line: int) -> Iterator[Width]:
    """``proxy_cache_key`` with its variables, and what keeps an answer out of the cache."""
    name = words[0].lower()
    if name in _NGINX or name in _NOT_KEPT:
        named = [match[1] for match in _VARIABLE.finditer(" ".join(words[1:]))]
        yield _covered(f"{path} {block} {name}", line, by_user(named), " ".join(words)[:120])
    elif name in ("proxy_ignore_headers", "fastcgi_ignore_headers"):
        ignored = {word.lower() for word in words[1:]} & {"set-cookie", "vary", "cache-control"}
        yield Width(
            "weaker", f"{path} {block} {name}", line, " ".join(words)[:120], measure=float(len(ignored))
        )
    elif name == "add_header" and [word.lower() for word in words[1:2]] == ["vary"]:
        yield _covered(
            f"{path} {block} vary",
            line,
            by_user(re.split(r"[,\s]+", " ".join(words[2:]))),
            " ".join(words)[:120],
        )


def vcl_facts(text: str, path: str) -> FileFacts:
    """What a program of Varnish hashes, what its answers vary by, and what it never keeps."""
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    widths = []
    for subject, pattern in (("hash", _HASHED), ("vary", _VARIES), ("pass", _PASSED)):
        found = list(pattern.finditer(text))
        named = [one for match in found for one in _NAMED.findall(match[1])]
        if subject == "vary":
            named += [one for match in found for one in re.split(r"[^\w-]+", match[1])]
        line = text.count("\n", 0, found[0].start()) + 1 if found else 1
        said = " ".join(found[0][0].split())[:120] if found else ""
        widths.append(_covered(f"{path} {subject}", line, by_user(named), said))
    return FileFacts(subjects=[path], widths=widths)


def _covered(subject: str, line: int, members: list[str], text: str) -> Width:
    return Width("covered", f"{subject} cache key", line, text[:120], members=members)
