"""Keys of caches that forget the user, rules of polkit and PAM that let more in, artifacts of pipelines."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.infrastructure.compare import differences
from gate.infrastructure.facts import FileFacts
from gate.infrastructure.reader import read

POLICY = """
resource "aws_cloudfront_cache_policy" "account" {
  parameters_in_cache_key_and_forwarded_to_origin {
    cookies_config {
      cookie_behavior = "all"
    }
    headers_config {
      header_behavior = "whitelist"
      headers {
        items = ["Accept-Language", "Authorization"]
      }
    }
  }
}
"""
STACK = """
Resources:
  Account:
    Type: AWS::CloudFront::CachePolicy
    Properties:
      CachePolicyConfig:
        ParametersInCacheKeyAndForwardedToOrigin:
          HeadersConfig:
            HeaderBehavior: whitelist
            Headers: [Accept-Language, Authorization]
"""
NGINX = "location / {\n  proxy_pass http://app;\n  proxy_cache_key $uri$cookie_session;\n  proxy_no_cache $http_authorization;\n}\n"
VCL = "sub vcl_hash {\n  hash_data(req.url);\n  hash_data(req.http.Authorization);\n}\nsub vcl_recv {\n  if (req.http.Cookie) { return (pass); }\n}\n"
RULES = """
polkit.addRule(function (action, subject) {
    if (action.id == "org.freedesktop.systemd1.manage-units" &&
        action.lookup("unit") == "edge-agent.service" && action.lookup("verb") == "restart" &&
        subject.isInGroup("edge-ops")) {
        return polkit.Result.YES;
    }
});
"""
ACTIONS = """<policyconfig><action id="example.edge.restart"><defaults><allow_any>no</allow_any>
<allow_active>auth_admin</allow_active></defaults></action></policyconfig>"""
PAM = "auth required pam_unix.so\nauth required pam_google_authenticator.so\naccount required pam_unix.so\n"
BUILD = "phases:\n  build:\n    commands: [npm ci]\nartifacts:\n  base-directory: dist\n  files: ['**/*']\n"


def told(path: str, base: str, head: str) -> set[tuple[str, str]]:
    facts: list[dict[str, FileFacts]] = [{path: read(path, text.encode(), {})} for text in (base, head)]
    return {(one.sort, one.fact.what) for one in differences(facts[0], facts[1], {})}


@pytest.mark.parametrize(
    ("path", "base", "old", "new", "expected"),
    [
        ("cdn.tf", POLICY, ', "Authorization"', "", ("wider", "covered")),
        ("cdn.tf", POLICY, 'cookie_behavior = "all"', 'cookie_behavior = "none"', ("wider", "weaker")),
        ("cdn.yaml", STACK, ", Authorization", "", ("wider", "covered")),
        ("nginx.conf", NGINX, "$cookie_session", "", ("wider", "covered")),
        ("nginx.conf", NGINX, "proxy_no_cache $http_authorization", "proxy_no_cache $arg_debug", ("wider", "covered")),
        ("default.vcl", VCL, "  hash_data(req.http.Authorization);\n", "", ("wider", "covered")),
        ("default.vcl", VCL, "  if (req.http.Cookie) { return (pass); }\n", "", ("wider", "covered")),
        ("packaging/49-edge.rules", RULES, 'action.lookup("unit") == "edge-agent.service"', 'action.lookup("unit").indexOf("edge-agent") == 0', ("wider", "allowed")),
        ("packaging/49-edge.rules", RULES, 'action.lookup("unit") == "edge-agent.service"', 'action.lookup("unit").startsWith("edge-")', ("wider", "allowed")),
        ("packaging/49-edge.rules", RULES, 'action.lookup("unit") == "edge-agent.service"', '/^edge-.*/.test(action.lookup("unit"))', ("wider", "allowed")),
        ("packaging/49-edge.rules", RULES, ' && action.lookup("verb") == "restart"', "", ("lost", "condition")),
        ("packaging/49-edge.rules", RULES, 'subject.isInGroup("edge-ops")', '(subject.isInGroup("edge-ops") || subject.isInGroup("users"))', ("wider", "trusted")),
        ("data/edge.policy", ACTIONS, "<allow_active>auth_admin", "<allow_active>yes", ("wider", "weaker")),
        ("pam.d/edge", PAM, "auth required pam_google_authenticator.so\n", "", ("lost", "authentication")),
        ("pam.d/edge", PAM, "auth required pam_unix", "auth sufficient pam_permit.so\nauth required pam_unix", ("granted", "password-free-root")),
        ("buildspec.yml", BUILD, "  base-directory: dist\n", "", ("granted", "artifact-secret")),
        (".circleci/config.yml", "jobs:\n  a:\n    steps:\n      - store_artifacts:\n          path: dist\n", "path: dist", "path: ~/.npmrc", ("granted", "artifact-secret")),
        ("bitbucket-pipelines.yml", "pipelines:\n  default:\n    - step:\n        artifacts: [dist/**]\n", "dist/**", "'**'", ("granted", "artifact-secret")),
    ],
)  # fmt: skip
def test_hostile(path: str, base: str, old: str, new: str, expected: tuple[str, str]) -> None:
    assert old in base
    assert expected in told(path, base, base.replace(old, new))


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("cdn.tf", POLICY, '"Accept-Language", ', ""),
        ("cdn.tf", POLICY, '"Authorization"', '"Authorization", "X-Device"'),
        ("cdn.yaml", STACK, "Accept-Language, ", ""),
        ("nginx.conf", NGINX, "$uri", "$uri$is_args$args"),
        ("default.vcl", VCL, "hash_data(req.url)", "hash_data(req.http.host)"),
        ("packaging/49-edge.rules", RULES, "function (action, subject)", "(action, subject) =>"),
        ("packaging/49-edge.rules", RULES, 'action.lookup("verb")', "verb"),
        ("data/edge.policy", ACTIONS, "<allow_active>auth_admin", "<allow_active>auth_admin_keep"),
        ("pam.d/edge", PAM, "account required pam_unix.so", "account required pam_access.so"),
        ("buildspec.yml", BUILD, "npm ci", "npm ci --ignore-scripts"),
        ("buildspec.yml", BUILD, "files: ['**/*']", "files: ['**/*']\n  discard-paths: no"),
        (".circleci/config.yml", "jobs:\n  a:\n    steps:\n      - store_artifacts:\n          path: dist\n", "path: dist", "path: build/reports"),
    ],
)  # fmt: skip
def test_ordinary(path: str, base: str, old: str, new: str) -> None:
    head = base.replace(old, new)
    if new == "verb":
        head = head.replace("    if (", '    const verb = action.lookup("verb");\n    if (')
    assert head != base
    assert told(path, base, head) == set()


@pytest.mark.parametrize("path", ["49-a.rules", "a.policy", "pam.d/a", "a.vcl", "buildspec.yml"])
@given(data=st.text(alphabet="polkit.addRule({ })\"'=a<>/ auth;:-\n", max_size=120))
@settings(max_examples=40, deadline=None)
def test_any_text_is_read(path: str, data: str) -> None:
    assert isinstance(read(path, data.encode(), {}), FileFacts)
