"""Rights that comments ask for, and machine images that anybody may publish."""

from __future__ import annotations

from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read, says_nothing

GO: Final = """package c

// +kubebuilder:rbac:groups=a.example,resources=sites,verbs=get;list;watch
// +kubebuilder:rbac:groups="",{}verbs={}

func F() {{}}
"""
MINE: Final = GO.format("namespace=own,resources=secrets,", "get;list")
AMI: Final = """
data "aws_ami" "worker" {{
  most_recent = true
  {}
  filter {{
    name   = "name"
    values = ["ubuntu/noble-*"]
  }}
}}
"""
OWNED: Final = AMI.format('owners = ["099720109477"]')
PACKER: Final = """
source "amazon-ebs" "a" {{
  source_ami_filter {{
    most_recent = true
    {}
    filters = {{
      name = "ubuntu-*"
    }}
  }}
}}
"""
WORSE: Final = (
    ("c.go", "more-rights", MINE, GO.format("resources=secrets;events,", "get;list")),
    ("c.go", "more-rights", MINE, GO.format("namespace=own,resources=secrets,", "get;list;update")),
    ("c.go", "more-rights", MINE, MINE.replace("resources=sites,", 'resources={"sites","pods/exec"},')),
    (
        "c.go",
        "more-rights",
        MINE,
        MINE.replace("sites,verbs=get;list;watch", "*,verbs=*"),
    ),
    ("m.tf", "image-of-anybody", OWNED, AMI.format("")),
    ("m.tf", "image-of-anybody", OWNED, AMI.format('owners = ["*"]')),
    ("m.tf", "image-of-anybody", "", AMI.format("")),
    ("p.pkr.hcl", "image-of-anybody", PACKER.format('owners = ["1234"]'), PACKER.format("")),
)
AS_GOOD: Final = (
    ("c.go", MINE, MINE.replace("resources=sites,", "resources=sites;configmaps,")),
    ("c.go", GO.format("resources=secrets,", "get;list"), MINE),
    ("c.go", GO.format("resources=secrets,", "*"), GO.format("resources=secrets,", "get;list")),
    ("c.go", MINE, MINE.replace("// +kubebuilder", "//+kubebuilder")),
    ("m.tf", "", OWNED),
    ("m.tf", "", AMI.format("owners = [var.owner]")),
    ("m.tf", "", AMI.format('filter {\n name = "owner-alias"\n values = ["amazon"]\n }')),
    ("m.tf", AMI.format(""), AMI.format("").replace("noble", "jammy")),
    ("m.tf", "", 'resource "aws_ami" "own" {\n  name = "a"\n}\n'),
)


def _told(path: str, base: str, head: str) -> list[str]:
    old, new = (read(path, text.encode(), {}) for text in (base, head))
    return [one.fact.what for one in differences({path: old}, {path: new}, {})]


@pytest.mark.parametrize(("path", "what", "base", "head"), WORSE)
def test_more_is_given(path: str, what: str, base: str, head: str) -> None:
    assert what in _told(path, base, head)


@pytest.mark.parametrize(("path", "base", "head"), AS_GOOD)
def test_no_more_is_given(path: str, base: str, head: str) -> None:
    assert _told(path, base, head) == []


def test_a_program_without_markers_is_left_out() -> None:
    assert says_nothing("a.go", "package a\n")
    assert not says_nothing("c.go", MINE)
