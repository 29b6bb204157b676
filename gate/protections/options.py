"""Options whose value decides: one table of names, each with its values from what is unsafe to what is safe.

A call stays as it was, and ``sameSite: "none"``, ``ClientAuth: tls.RequireAnyClientCert`` or ``pickle`` in
``accept_content`` make another one of it. Names and values are compared in one spelling, so that keyword
arguments, keys, fields, setters and parameters of an address are all read alike. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.protections.facts import Strength

OPTION: Final = "option "
"""How ``what`` of such a quantity begins; its amount is the step of its value."""
_CUT: Final = 160
_LONGEST: Final = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One option. ``names``: in snake case, the first is what it is called in reports. ``steps``: its values,
    from unsafe to safe; a list is worth its weakest entry. ``other``: the step of any other value that is
    known. ``unset``: the step where base does not name it: what takes its place then is a fact.
    ``ending``: longer names that end so are this option, too. ``given``: any value but none is safe.
    """

    names: tuple[str, ...]
    steps: tuple[frozenset[str], ...] = ()
    other: int = 0
    unset: int = 0
    ending: bool = False
    given: bool = False
    apart: bool = False
    """Its names are options of their own, which only have their values in common."""


def _steps(*lines: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(line.split()) for line in lines)


_YES: Final = "true 1 yes on"
_NO: Final = "false 0 no off none null nil undefined"
_ON_IS_SAFE: Final = _steps(_NO, _YES)
_OFF_IS_SAFE: Final = _steps(_YES, _NO)
_PICKLES: Final = (
    "pickle application_x_python_serialize dill cloudpickle pickle_serializer marshal joblib"
    " django_contrib_sessions_serializers_pickle_serializer"
)
_NOTHING: Final = frozenset({"none", "null", "nil", "undefined", "false", ""})
_OPTIONS: Final = (
    # Requests and answers
    Option(
        names=("follow_redirects", "allow_redirects", "follow_redirect", "curlopt_followlocation"),
        steps=_OFF_IS_SAFE, ending=True,
    ),
    Option(names=("dotfiles",), steps=_steps("allow", "ignore deny"), unset=2),
    Option(names=("trust_proxy",), steps=_steps("true"), other=2),
    Option(
        names=("referrer_policy",),
        steps=_steps("unsafe_url", "no_referrer_when_downgrade"), other=3, ending=True,
    ),
    Option(names=("cross_origin_opener_policy",), steps=_steps("unsafe_none false"), other=2, ending=True),
    Option(names=("x_frame_options",), steps=_steps("allowall allow_all false"), other=2, ending=True),
    Option(
        names=("allow_origins", "allow_origin", "allowed_origins", "cors_origin",
               "access_control_allow_origin"),
        steps=_steps("* true"), other=2, ending=True,
    ),
    Option(names=("allow_credentials",), steps=_OFF_IS_SAFE, ending=True),
    Option(names=("skip_failed_requests",), steps=_OFF_IS_SAFE, unset=2),
    Option(names=("introspection",), steps=_OFF_IS_SAFE),
    Option(names=("list_directory", "directory_listing", "show_index"), steps=_OFF_IS_SAFE),
    # Cookies and tokens
    Option(names=("http_only", "httponly", "cookie_httponly", "cookie_http_only"), steps=_ON_IS_SAFE),
    Option(names=("secure", "cookie_secure", "session_cookie_secure"), steps=_ON_IS_SAFE),
    Option(names=("same_site", "samesite"), steps=_steps("none no_restriction false", "lax strict true"),
           ending=True),
    Option(names=("use_strict_mode",), steps=_ON_IS_SAFE, ending=True),
    Option(names=("audience",), given=True),
    Option(names=("issuer",), given=True),
    Option(
        names=("algorithms", "allowed_algorithms", "jwt_algorithms", "signing_algorithms"),
        steps=_steps("none", "hs256 hs384 hs512 dir",
                     "rs256 rs384 rs512 es256 es256k es384 es512 ps256 ps384 ps512 ed_dsa ed25519"),
    ),
    Option(names=("ignore_expiration", "ignore_not_before"), steps=_OFF_IS_SAFE, unset=2, apart=True),
    Option(
        names=("verify_signature", "verify_exp", "verify_aud", "verify_iss", "verify_nbf"), steps=_ON_IS_SAFE,
        apart=True,
    ),
    # What is read: objects, models, documents
    Option(
        names=("accept_content", "result_accept_content", "celery_accept_content"),
        steps=_steps(_PICKLES), other=2, unset=2, ending=True,
    ),
    Option(
        names=("task_serializer", "result_serializer", "session_serializer", "event_serializer"),
        steps=_steps(_PICKLES), other=2, unset=2, ending=True, apart=True),
    Option(names=("trust_remote_code",), steps=_OFF_IS_SAFE, unset=2, ending=True),
    Option(
        names=("allow_pickle", "allow_dangerous_deserialization"), steps=_OFF_IS_SAFE, unset=2, apart=True
    ),
    Option(names=("weights_only", "use_safetensors"), steps=_steps("false 0", _YES), ending=True, apart=True),
    Option(names=("loader",), steps=_steps("unsafe_loader loader full_loader c_loader"
                                            " c_full_loader c_unsafe_loader", "safe_loader c_safe_loader")),
    Option(names=("allowed_classes",), steps=_steps("true"), other=2),
    Option(names=("disallow_doctype_decl", "feature_secure_processing", "no_network", "forbid_dtd",
                  "forbid_entities", "forbid_external"), steps=_ON_IS_SAFE, apart=True),
    Option(
        names=("expand_entity_references", "external_general_entities", "external_parameter_entities",
               "load_external_dtd", "resolve_entities", "load_dtd", "is_supporting_external_entities",
               "support_dtd", "x_include_aware", "noent", "huge_tree"),
        steps=_OFF_IS_SAFE, apart=True),
    Option(names=("access_external_dtd", "access_external_schema", "access_external_stylesheet"),
           steps=(frozenset({"all"}), frozenset({""})), other=1, apart=True),
    Option(names=("allow_unknown", "allow_unknown_fields"), steps=_OFF_IS_SAFE),
    Option(names=("forbid_non_whitelisted", "whitelist", "strip_unknown", "disallow_unknown_fields"),
           steps=_ON_IS_SAFE, apart=True),
    Option(names=("unknown",), steps=_steps("include", "raise exclude")),
    Option(names=("additional_properties",), steps=_OFF_IS_SAFE),
    Option(names=("extra",), steps=_steps("allow", "forbid ignore")),
    Option(names=("no_escape",), steps=_OFF_IS_SAFE),
    Option(names=("autoescape", "escape_html"), steps=_ON_IS_SAFE),
    Option(names=("in_array strict",), steps=_ON_IS_SAFE),
    # Connections
    Option(
        names=("client_auth", "client_authentication"),
        steps=_steps("no_client_cert none", "request_client_cert", "require_any_client_cert want",
                     "verify_client_cert_if_given", "require_and_verify_client_cert need"),
    ),
    Option(
        names=("verify_mode", "cert_reqs", "ssl_cert_reqs", "tls_cert_reqs"),
        steps=_steps("cert_none none verify_none", "cert_optional optional",
                     "cert_required required verify_peer"),
    ),
    Option(
        names=("sslmode", "ssl_mode"),
        steps=_steps("disable disabled allow prefer preferred", "require required", "verify_ca",
                     "verify_full verify_identity"),
        ending=True,
    ),
    Option(
        names=("check_hostname", "reject_unauthorized", "strict_ssl", "verify_ssl", "ssl_verify",
               "verify_certs", "validate_certs", "tls_verify", "verify_tls", "verify_hostname",
               "require_tls", "ssl_check_hostname", "curlopt_ssl_verifypeer"),
        steps=_ON_IS_SAFE, ending=True, apart=True),
    Option(
        names=("tls_insecure", "tls_allow_invalid_certificates", "tls_allow_invalid_hostnames",
               "trust_server_certificate", "insecure_skip_verify", "allow_invalid_certificates"),
        steps=_OFF_IS_SAFE, unset=2, apart=True),
    Option(
        names=("min_version", "minimum_version", "ssl_minimum_version", "tls_min_version", "min_tls_version"),
        steps=_steps("ssl3 ssl_v3 version_ssl30 tls1 tls10 tls1_0 tls1_1 tl_sv1 tl_sv1_1 tls_v1 tls_v1_1"
                     " version_tls10 version_tls11 tl_sv1_0 tls11 tlsv1 tlsv1_0 tlsv1_1 minimum_supported",
                     "version_tls12 version_tls13 tl_sv1_2 tl_sv1_3 tls_v1_2 tls_v1_3 tls12 tls13 tlsv1_2"
                     " tlsv1_3"),
    ),
    Option(
        names=("email_use_tls", "email_use_ssl", "mail_use_tls", "mail_use_ssl", "mail_smtp_starttls_enable",
               "mail_smtp_starttls_required", "mail_smtp_ssl_checkserveridentity", "mail_smtp_ssl_enable",
               "enable_starttls", "enable_starttls_auto", "enable_ssl"),
        steps=_ON_IS_SAFE, apart=True),
    Option(names=("ssl", "use_ssl", "use_tls", "tls"), steps=_ON_IS_SAFE, apart=True),
    Option(names=("opt_x_tls_require_cert", "tls_reqcert"),
           steps=_steps("opt_x_tls_never never opt_x_tls_allow allow opt_x_tls_try try",
                        "opt_x_tls_demand demand opt_x_tls_hard hard")),
    Option(names=("ignore_tls", "opportunistic_tls"), steps=_OFF_IS_SAFE, unset=2, apart=True),
    Option(names=("smtp_secure", "smtp_auto_tls"),
           steps=(frozenset({*_NO.split(), ""}), frozenset({"tls", "ssl", *_YES.split()})), apart=True),
    # What is asked of annotations: read at all, or not
    Option(names=("pre_post_enabled",), steps=_ON_IS_SAFE, unset=2),
    # Windows of a desktop application
    Option(names=("node_integration", "node_integration_in_worker", "allow_running_insecure_content"),
           steps=_OFF_IS_SAFE, apart=True),
    Option(names=("context_isolation", "web_security"), steps=_ON_IS_SAFE, apart=True),
    # Keys and messages
    Option(names=("associated data",), given=True),
    Option(names=("whole match",), steps=_steps("part", "whole")),
    Option(names=("anchors of a pattern",), steps=_steps("lines", "text")),
)  # fmt: skip
_BY_NAME: Final = {name: option for option in _OPTIONS for name in option.names}
_ENDINGS: Final = tuple((f"_{name}", option) for option in _OPTIONS if option.ending for name in option.names)
_PLACED: Final = {"in_array": (2, "in_array strict"), "array_search": (2, "in_array strict")}
"""Arguments by position that are off where they are not given."""
_COOKIE: Final = frozenset(
    {"http_only", "httponly", "secure", "same_site", "samesite", "max_age", "path", "domain", "expires"}
)
_COOKIE_NEEDS: Final = (("http_only", "httponly"), ("secure",))
_TOKEN: Final = frozenset({"issuer", "audience", "algorithms"})
_TOKEN_NEEDS: Final = (("audience",), ("issuer",))
_PARAMETERS: Final = frozenset(name for name in _BY_NAME if "ssl" in name or "tls" in name or "cert" in name)


def spelt(word: str) -> str:
    """One spelling for names and values: ``"Referrer-Policy"``, ``tls.NoClientCert``, ``SESSION_ENGINE``."""
    text = word.strip("\"'`: ")
    if "://" in text:  # http://apache.org/xml/features/disallow-doctype-decl
        text = text.rstrip("/").rpartition("/")[2]
    kept = text if text == "*" else "".join(c if c.isalnum() else "_" for c in snake(text))
    return kept.strip("_") if kept != "*" else kept


def option_of(name: str) -> Option | None:
    """The option that a name stands for."""
    plain = spelt(name) if " " not in name or name not in _BY_NAME else name
    found = _BY_NAME.get(plain)
    return found or next((option for ending, option in _ENDINGS if plain.endswith(ending)), None)


def option_strength(name: str, values: Sequence[str] | None, text: str, line: int) -> Strength | None:
    """An option with the values that it has, as they are written; None for values that nobody knows."""
    option = option_of(name)
    if option is None:
        return None
    if option.given:
        bare = values is not None and all(spelt(one) in _NOTHING for one in values)
        return _made(option, 1 if bare else 2, text, line)
    if not values:
        return None
    ranks = [_rank(option, spelt(one)) for one in values]
    known = [rank for rank in ranks if rank]
    return _made(option, min(known), text, line, spelt(name)) if len(known) == len(ranks) else None


def _rank(option: Option, value: str) -> int:
    at = next((at for at, step in enumerate(option.steps, 1) if value in step), 0)
    return at or option.other


def _made(option: Option, rank: int, text: str, line: int, name: str = "") -> Strength:
    shown = " ".join(text.split())[:_CUT]
    called = name if option.apart and name in option.names else option.names[0]
    return Strength(what=f"{OPTION}{called}", amount=rank, text=shown, line=line)


def left_out(names: Sequence[str], line: int) -> Iterator[Strength]:
    """What a mapping does not say, though it is about a cookie or a token: off."""
    plain = {spelt(name) for name in names}
    needs: tuple[tuple[str, ...], ...] = ()
    if len(plain & _COOKIE) > 1:
        needs = _COOKIE_NEEDS
    elif not plain.isdisjoint({"issuer", "algorithms"}) and len(plain) > 1:
        needs = _TOKEN_NEEDS
    for same in needs:
        if plain.isdisjoint(same):
            text = f"without {same[0]}: {', '.join(names)}"
            yield _made(_BY_NAME[same[0]], 1, text, line)


def unset_step(what: str) -> int:
    """The step that an option has where it is not set; 0 where nobody can say."""
    option = _BY_NAME.get(what.removeprefix(OPTION))
    return option.unset if option is not None else 0


def placed(callee: str) -> tuple[int, str] | None:
    """Which argument of a call is such an option, and its name."""
    return _PLACED.get(callee)


def parameters_of(text: str, line: int) -> Iterator[Strength]:
    """``?sslmode=verify-full`` of an address: only the parameters are shown, never what stands before."""
    for name, value in query_of(text):
        if spelt(name) in _PARAMETERS:
            made = option_strength(name, [value], f"{name}={value}", line)
            if made is not None:
                yield made


def query_of(text: str) -> list[tuple[str, str]]:
    """The parameters of an address; none for any other text."""
    if "://" not in text or "?" not in text or len(text) > _LONGEST or "\n" in text:
        return []
    try:
        return parse_qsl(urlsplit(text.strip("\"'` ")).query, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return []
