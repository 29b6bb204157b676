"""Repositories that Maven, Gradle, NuGet and conda are told to use, and their locks as inputs."""

from __future__ import annotations

import pytest

from gate.supply.build_settings import READERS
from gate.supply.inputs import conda, dotnet, jvm
from gate.supply.inputs.model import UnreadableInputError

MAVEN = """<project xmlns="http://maven.apache.org/POM/4.0.0"><repositories><repository><id>a</id>
<url>https://maven.example/m2</url></repository></repositories><pluginRepositories><pluginRepository>
<url> https://plugins.example/m2 </url></pluginRepository></pluginRepositories><dependencies><dependency>
<groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency></dependencies></project>"""
GRADLE = """
// maven { url = uri("https://commented.example/") }
repositories {
    mavenCentral()
    maven { url = uri("https://one.example/m2") }
    maven("https://two.example/m2")
    maven { url 'https://three.example/m2' }
}
val homepage = "https://about.example/"
"""
NUGET = """<configuration><packageSources><clear/><add key="x" value="https://nuget.example/v3/index.json"/>
</packageSources></configuration>"""


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("pom.xml", MAVEN, ["https://maven.example/m2", "https://plugins.example/m2"]),
        ("build.gradle.kts", GRADLE, [f"https://{n}.example/m2" for n in ("one", "two", "three")]),
        ("nuget.config", NUGET, ["https://nuget.example/v3/index.json"]),
        ("environment.yml", "channels: [conda-forge, 'https://c.example/main']\n",
         ["https://conda.anaconda.org/conda-forge", "https://c.example/main"]),
    ],
)  # fmt: skip
def test_repositories(name: str, text: str, wanted: list[str]) -> None:
    assert [where for _, where in READERS[name](text)] == wanted


def test_a_document_type_of_its_own_is_refused() -> None:
    with pytest.raises(UnreadableInputError):
        list(READERS["pom.xml"]('<!DOCTYPE x [<!ENTITY a "b">]><project/>'))


def test_what_a_pom_takes() -> None:
    assert [(one.name, one.version) for one in jvm.pom(MAVEN).inputs] == [("g:a", "1")]


def test_sums_of_gradle() -> None:
    text = (
        '<verification-metadata><components><component group="g" name="a" version="1">'
        '<artifact name="a-1.jar">'
        '<sha256 value="AB"/></artifact></component></components></verification-metadata>'
    )
    (one,) = jvm.verification(text).inputs
    assert (one.name, one.version, one.archives[0].digest) == ("g:a", "1", "sha256:ab")
    assert [i.name for i in jvm.gradle_lock("# c\ng:a:1=compile\nempty=x\n").inputs] == ["g:a"]


def test_locks_of_net_and_conda() -> None:
    package = '{"type": "Direct", "resolved": "1.0", "contentHash": "h="}'
    lock = '{"version": 1, "dependencies": {"net8.0": {"A": ' + package + "}}}"
    (one,) = dotnet.lock(lock).inputs
    assert (one.name, one.version, one.archives[0].digest) == ("A", "1.0", "sha512:h=")
    url = "https://conda.anaconda.org/conda-forge/linux-64/numpy-2.0.1-py312_0.conda"
    (one,) = conda.conda_lock(f"package:\n- name: numpy\n  url: {url}\n  hash: {{sha256: ab}}\n").inputs
    assert (one.name, one.version, one.where) == ("numpy", "2.0.1", "https://conda.anaconda.org/conda-forge")
    (one,) = conda.pixi(f"packages:\n- conda: {url}\n  sha256: ab\n").inputs
    assert one.archives[0].digest == "sha256:ab"
