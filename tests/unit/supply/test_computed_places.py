"""Repositories that are computed, Elixir's and Lua's inputs, and sums that no longer stand in the tree."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.dependencies import Dependencies
from gate.supply.build_settings import gradle, maven, sbt
from gate.supply.inputs.beam import mix, mix_lock, rockspec
from tests.prescreen_support import make_request

SUM = "399e9d1995da80b64d2ef3606c1a239018660d8b35209fba3f7b0bc11c631c68"


def told(path: str, base: str, head: str) -> list[str]:
    found = Dependencies().scan(make_request({path: head}, {path: base})).findings
    return [f.rule_id for f in found if f.severity.value != "low"]


@pytest.mark.parametrize(
    "text",
    [
        'repositories { maven { setUrl(listOf("https:/", "$region.x.example", "m2").joinToString("/")) } }',
        "repositories {\n  maven {\n    url = uri(System.getenv('MIRROR'))\n  }\n  mavenCentral()\n}",
        'repositories {\n  maven { url = uri(providers.gradleProperty("mirror").get()) }\n}',
        "repositories {\n  maven { url mirror }\n}",
        'repositories { maven { url = uri("https://$host/m2") } }',
    ],
)
def test_what_gradle_computes(text: str) -> None:
    assert any("computed" in where or "$" in where for _, where in gradle(text))


@pytest.mark.parametrize(
    "text",
    [
        'repositories { maven { url = uri("https://repo.example/m2") } }',
        'repositories { maven { url = uri("$rootDir/repo") } }',
        "repositories { maven { url = layout.buildDirectory.dir('repo') } }",
        "repositories { maven { url = file('repo').toURI() } }",
        "publishing {\n repositories {\n  maven {\n   url = isSnapshot ? snapshots : releases\n  }\n }\n}",
        "val url = base + path\n",
        "mavenCentral()\ngoogle()\n",
    ],
)
def test_what_gradle_does_not_compute(text: str) -> None:
    assert not any("computed" in where for _, where in gradle(text))


def test_sbt_and_maven() -> None:
    assert [*sbt('resolvers += "a" at "https://a.example/r"')] == [("registry", "https://a.example/r")]
    assert [*sbt('resolvers += "a" at host')] == [("registry", "computed: host")]
    assert [*sbt('MavenRepository("r", s"https://$host/r")')] == [("registry", "computed: https://$host/r")]
    assert [*sbt('libraryDependencies += "a" % "b" % "1"\nhomepage := url("https://a.example")')] == []
    pom = "<project><properties><m>https://a.example/m2</m></properties><profiles><profile><repositories><repository><url>{}</url></repository></repositories></profile></profiles></project>"
    assert [*maven(pom.format("${m}/x"))] == [("registry", "https://a.example/m2/x")]
    assert [*maven(pom.format("${env.MIRROR}"))] == [("registry", "computed: ${env.MIRROR}")]


def test_a_computed_repository_is_told_once_it_is_new() -> None:
    base = "repositories {\n  mavenCentral()\n}\n"
    head = "repositories {\n  maven { url = uri(mirror) }\n  mavenCentral()\n}\n"
    assert told("build.gradle", base, head) == ["dependency.index"]
    assert told("build.gradle", head, head + "\n") == []


MIX = 'defmodule A do\n  defp deps do\n    [\n      {:jason, "~> 1.4"},\n      %s\n    ]\n  end\nend\n'


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ('{:plug, "~> 1.15"}', '{:plug, "~> 1.15", github: "somebody/plug"}', ["supply.source-changed"]),
        ('{:plug, "~> 1.15"}', '{:plug, git: "https://git.example/plug.git"}', ["supply.source-changed"]),
        ('{:plug, "~> 1.15"}', '{:plug, "~> 1.15", organization: "acme"}', ["supply.source-changed"]),
        ('{:plug, "~> 1.15"}', '{:plug, "~> 1.15", hex: :plugg}', ["supply.alias"]),
        ('{:plug, "~> 1.15"}', '{:plug, "~> 1.16", only: :test}', []),
        ('{:plug, "~> 1.15"}', '{:plug, "~> 1.15"},\n      {:ecto, "~> 3.0"}', []),
    ],
)
def test_where_a_mix_project_takes_packages_from(old: str, new: str, rules: list[str]) -> None:
    assert told("mix.exs", MIX % old, MIX % new) == rules


LOCK = '%%{\n  "plug": {:hex, :plug, "1.15.0", "%s", [:mix], [], "%s", "bb"},\n}\n'


def test_mix_lock() -> None:
    assert told("mix.lock", LOCK % ("aa", "hexpm"), LOCK % ("cc", "hexpm")) == ["supply.content-changed"]
    assert "supply.source-changed" in told("mix.lock", LOCK % ("aa", "hexpm"), LOCK % ("aa", "hexpm:acme"))
    newer = (LOCK % ("cc", "hexpm")).replace("1.15.0", "1.16.0")
    assert told("mix.lock", LOCK % ("aa", "hexpm"), newer) == []
    git = '%{"plug": {:git, "https://git.example/plug.git", "0a", []}}'
    assert "supply.source-changed" in told("mix.lock", LOCK % ("aa", "hexpm"), git)
    assert mix("def (").inputs == mix_lock("%{").inputs == ()


def test_rockspec() -> None:
    text = 'package = "a"\nsource = {\n  url = "git+https://github.com/%s/a.git",\n  tag = "v1"\n}\n'
    assert rockspec(text % "x").inputs[0].where == "git+https://github.com/x/a.git"
    assert told("a-1.rockspec", text % "owner", text % "somebody") == ["supply.source-changed"]
    assert rockspec("= {").inputs == ()


FETCH = "RUN curl -fsSLO https://dl.example/kubectl{} && {} && install kubectl /usr/bin/\n"
HELD = FETCH.format("", f'echo "{SUM}  kubectl" | sha256sum -c -')


@pytest.mark.parametrize(
    "head",
    [
        FETCH.format("", "curl -fsSLO https://dl.example/kubectl.sha256 && sha256sum -c kubectl.sha256"),
        FETCH.format("", "true"),
        FETCH.format("", 'echo "$(curl -s https://dl.example/SHA256SUMS | grep kubectl)" | sha256sum -c -'),
    ],
)
def test_a_sum_that_no_longer_stands_in_the_tree(head: str) -> None:
    assert "supply.safeguard-removed" in told("Dockerfile", "FROM a\n" + HELD, "FROM a\n" + head)


@pytest.mark.parametrize(
    "head",
    [
        HELD.replace(SUM, SUM[::-1]),
        HELD.replace("kubectl", "helm"),
        "RUN apt-get install kubectl\n",
        f"ARG SUM={SUM}\n" + FETCH.format("", 'echo "$SUM  kubectl" | sha256sum -c -'),
        f"ADD --checksum=sha256:{SUM} https://dl.example/kubectl /usr/bin/\n",
    ],
)
def test_sums_that_are_still_there(head: str) -> None:
    assert "supply.safeguard-removed" not in told("Dockerfile", "FROM a\n" + HELD, "FROM a\n" + head)


def test_a_lock_has_rules_of_its_own() -> None:
    base = f"a:\n  url: https://dl.example/a\n  sha: {SUM}\n"
    assert told("pnpm-lock.yaml", base, base.replace(SUM, "x")) == []


def test_registries_of_vcpkg() -> None:
    place = "https://github.com/microsoft/vcpkg"
    base = f'{{"default-registry": {{"kind": "git", "repository": "{place}", "baseline": "1"}}}}'
    more = (
        base[:-1]
        + ', "registries": [{"kind": "git", "repository": "https://github.com/x/r", "packages": ["zlib"]}]}'
    )
    assert told("vcpkg-configuration.json", base, more) == ["dependency.index"]
    assert told("vcpkg-configuration.json", base, base.replace('"1"', '"2"')) == []


CMAKE = "include(FetchContent)\nFetchContent_Declare(\n  zlib\n  {}\n)\n"
ZLIB = (
    "URL https://github.com/madler/zlib/releases/download/v1.3.{0}/zlib-1.3.{0}.tar.gz\n  URL_HASH SHA256={1}"
)


def test_what_cmake_fetches() -> None:
    base = CMAKE.format(ZLIB.format(1, SUM))
    other = CMAKE.format("GIT_REPOSITORY https://github.com/zlib-mirror/zlib.git\n  GIT_TAG v1.3.1")
    assert set(told("CMakeLists.txt", base, other)) == {"supply.source-changed", "supply.safeguard-removed"}
    assert told("CMakeLists.txt", base, CMAKE.format(ZLIB.format(1, SUM[::-1]))) == ["supply.content-changed"]
    assert told("CMakeLists.txt", base, CMAKE.format(ZLIB.format(2, SUM[::-1]))) == []
    assert told("CMakeLists.txt", base, CMAKE.format("URL )(")) != ["unscanned-file"]
