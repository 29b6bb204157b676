"""Which file is read as what. Runs in the limited child: ``gate.infrastructure.reader:read``."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.alternatives import alternative_widths
from gate.infrastructure.apache_facts import apache_facts, is_apache
from gate.infrastructure.cache_keys import cloudformation, is_vcl, vcl_facts
from gate.infrastructure.caddy_facts import caddy_facts, is_caddyfile
from gate.infrastructure.daemon_facts import daemon_facts, daemon_kind, docker_widths
from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.infrastructure.graphql_widths import graphql_facts
from gate.infrastructure.interface_widths import interface_widths
from gate.infrastructure.kept_out import is_list, list_facts
from gate.infrastructure.local_rights import local_facts, local_kind
from gate.infrastructure.marker_rights import MARK, marker_facts
from gate.infrastructure.module_facts import module_facts
from gate.infrastructure.policy_documents import nested_policies
from gate.infrastructure.policy_languages import policy_language, policy_language_facts
from gate.infrastructure.program_guards import is_guarding, program_guards
from gate.infrastructure.reviewed import attribute_facts, is_attributes
from gate.infrastructure.route_facts import route_facts
from gate.infrastructure.service_facts import account_facts, image_facts, unit_facts
from gate.infrastructure.settings import setting_widths
from gate.infrastructure.sql_facts import sql_facts
from gate.infrastructure.terraform_facts import policy_facts, terraform_facts
from gate.infrastructure.tool_code import data_code, ini_code, is_tool_file
from gate.infrastructure.trusted import is_key_list, key_list_facts, trusted_keys
from gate.infrastructure.verifiers import audit_widths, image_policy_widths, is_verifier, verifier_facts
from gate.infrastructure.web_facts import page_facts, server_facts
from gate.infrastructure.yaml_facts import SWITCHED_ON, blocks_switched, switches, yaml_facts
from gate.regex import regex
from gate.supply.yaml_data import Path, UnreadableYamlError, leaves

_UNIT: Final = regex(r"\.(?:service|socket|timer|mount|path)$|\.(?:service|socket)\.d/[^/]+\.conf$")
_SERVER: Final = regex(r"nginx|sites-(?:available|enabled)/|angie|openresty", re.IGNORECASE)
_PAGES: Final = frozenset((".html", ".htm", ".jinja", ".jinja2", ".j2", ".njk", ".twig", ".liquid", ".xhtml"))
_SQL: Final = frozenset((".sql", ".psql", ".pgsql", ".ddl"))
_TERRAFORM: Final = frozenset((".tf", ".tofu", ".hcl", ".tfvars"))
_LOCKS: Final = regex(
    r"(?:^|[/.-])(?:lock|package-lock|npm-shrinkwrap)\.(?:json|toml|ya?ml)$|pnpm-lock|poetry\.lock"
)
_MANIFEST: Final = regex(rb"(?m)^apiVersion\s*:")
_KIND: Final = regex(rb"(?m)^kind\s*:")

_BY_NAME: Final[tuple[tuple[Callable[[str], object], str], ...]] = (
    (lambda path: is_list(path) and not path.endswith("package.json"), "list"),
    (daemon_kind, "daemon"),
    (is_attributes, "attributes"),
    (policy_language, "policy"),
    (is_verifier, "verifier"),
    (is_key_list, "keys"),
    (is_tool_file, "tool"),
    (local_kind, "local"),
    (is_vcl, "vcl"),
    (is_caddyfile, "caddy"),
    (is_guarding, "program"),
)

_BY_SUFFIX: Final = {
    ".json": "json", ".toml": "toml", ".eslintrc": "json", ".babelrc": "json", ".mocharc": "json",
    ".graphql": "graphql", ".graphqls": "graphql", ".gql": "graphql",
    ".go": "markers", ".conf": "apache", ".vhost": "apache", ".htaccess": "apache",
}  # fmt: skip


def reads(path: str) -> bool:
    """Is this a file that says something here?"""
    return _format(path) != ""


def says_nothing(path: str, text: str) -> bool:
    """Is this a program that has no word for this reader? Most have none, and are not sent to the child."""
    return path.endswith(".go") and MARK not in text


def _format(path: str) -> str:
    pure = PurePosixPath(path)
    name, suffix = pure.name.lower(), pure.suffix.lower()
    if _LOCKS.search(path):
        return ""
    for asks, kind in _BY_NAME:
        if asks(path):
            return kind
    if suffix in _TERRAFORM:
        return "terraform"
    if suffix in (".yaml", ".yml"):
        return "yaml"
    if _UNIT.search(path):
        return "unit"
    if "dockerfile" in name or "containerfile" in name:
        return "image"
    if name.startswith("authorized_keys") or "sudoers" in path:
        return "account"
    if suffix in _PAGES:
        return "page"
    if suffix in _SQL:
        return "sql" if "down" not in pure.stem.lower() else ""
    if suffix in (".conf", ".nginx", ".vhost", "") and _SERVER.search(path):
        return "server"
    return _BY_SUFFIX.get(suffix or name, "")


def read(path: str, data: bytes, options: dict[str, object]) -> FileFacts:
    """The facts of one file; of one that is not what its name says, none."""
    del options
    kind = _format(path)
    if kind == "terraform":
        return terraform_facts(data, path)
    if kind == "yaml":
        try:
            return yaml_facts(data, path)
        except UnreadableYamlError as error:
            return _unreadable(path, data, str(error))
    text = data.decode("utf-8", "replace")
    if kind in ("json", "toml"):
        return _settings(text, path, kind)
    if kind == "server" and is_apache(text):
        kind = "apache"
    readers = {
        "unit": unit_facts,
        "image": image_facts,
        "account": account_facts,
        "keys": key_list_facts,
        "list": list_facts,
        "attributes": attribute_facts,
        "daemon": daemon_facts,
        "tool": ini_code,
        "policy": policy_language_facts,
        "graphql": graphql_facts,
        "page": page_facts,
        "sql": sql_facts,
        "server": server_facts,
        "apache": apache_facts,
        "markers": marker_facts,
        "local": local_facts,
        "vcl": vcl_facts,
        "caddy": caddy_facts,
        "program": program_guards,
        "verifier": verifier_facts,
    }
    reader = readers.get(kind)
    return reader(text, path) if reader else FileFacts()


def _unreadable(path: str, data: bytes, why: str) -> FileFacts:
    """A manifest of Kubernetes with a doubled key is one thing to us and another to the cluster. Templates
    that are no YAML before they are filled in, and data of every other kind, say nothing.
    """
    if b"{{" in data or not (_MANIFEST.search(data) and _KIND.search(data)):
        return FileFacts()
    return FileFacts(facts=[Fact("grant", "unreadable", path, 1, why)], subjects=[path])


def _settings(text: str, path: str, kind: str) -> FileFacts:
    try:
        found = json.loads(text) if kind == "json" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return FileFacts()
    lines = text.split("\n")

    def line_of(where: Path) -> int:
        last = str(where[-1]) if where else ""
        return next((number for number, line in enumerate(lines, 1) if last in line), 1)

    switched = [*switches(leaves(found), line_of), *blocks_switched(found, line_of)]
    facts = [fact for fact in switched if fact.what == SWITCHED_ON]
    widths = [*setting_widths(found, line_of, prefix=f"{path} "), *trusted_keys(found, path, line_of)]
    widths += [*interface_widths(found, path, line_of), *cloudformation(found, line_of)]
    widths += alternative_widths(found, f"{path} ", line_of)
    if kind == "toml":
        widths += audit_widths(found, path, line_of)
    if kind == "json":
        widths += image_policy_widths(found, path, line_of)
        policy = [*policy_facts(text, path), *nested_policies(found, path, line_of)]
        facts += [one for one in policy if isinstance(one, Fact)]
        widths += [one for one in policy if isinstance(one, Width)]
        facts += module_facts(found, path, line_of)
        widths += docker_widths(found, path)
    facts += data_code(found, text, path)
    routed = [*route_facts(found, line_of)]
    facts += [one for one in routed if isinstance(one, Fact)]
    widths += [one for one in routed if isinstance(one, Width)]
    if kind == "json" and is_list(path):
        facts += list_facts(text, path).facts
    return FileFacts(facts=facts, subjects=[path, *(fact.subject for fact in switched)], widths=widths)
