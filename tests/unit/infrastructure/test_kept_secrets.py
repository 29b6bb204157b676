"""What a cluster keeps as a secret, base against head."""

from __future__ import annotations

from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

DEPLOYED: Final = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: shop}}
spec:
  template:
    spec:
      containers:
      - name: web
        image: shop:1
        env:
        - name: DB_PASSWORD
          {}
"""
KEPT: Final = DEPLOYED.format("valueFrom: {secretKeyRef: {name: shop, key: password}}")
MADE: Final = "secretGenerator:\n- name: shop\n  literals: [token=x, mode=live]\n"


def told(path: str, base: str, head: str) -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("d.yaml", KEPT, DEPLOYED.format("valueFrom: {configMapKeyRef: {name: shop, key: password}}")),
        ("d.yaml", KEPT, DEPLOYED.format("value: hello")),
        ("kustomization.yaml", MADE, MADE.replace("secret", "configMap")),
    ],
)
def test_a_value_that_is_shown_is_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == {"secret"}
    assert told(path, head, base) == set()


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("d.yaml", KEPT, KEPT.replace("name: shop, key: password", "name: database, key: main")),
        ("d.yaml", KEPT, KEPT.replace("DB_PASSWORD", "DATABASE_PASSWORD")),
        ("d.yaml", KEPT, KEPT.partition("        env:")[0]),
        ("d.yaml", DEPLOYED.format("value: a"), DEPLOYED.format("value: b")),
        ("kustomization.yaml", MADE, MADE.replace(", mode=live", "")),
    ],
)
def test_what_stays_a_secret_or_goes_is_not_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == set()
