"""A handler's own check is gone, and an unchanged file mounts its router behind the same."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.protections import Protections
from tests.prescreen_support import make_request

ADMIN = """import {{ Router }} from "express";
export function admin(users) {{
  const router = Router();
  router.get("/users", async (req, res) => {{
    {}
    res.json(await users.list());
  }});
  return router;
}}
"""
CHECK = 'if (!req.user?.isAdmin) { res.status(403).send("administrators only"); return; }'
APP = """import express from "express";
import {{ requireAdmin, cached }} from "./guards.js";
import {{ admin }} from "./admin.js";
export function app({{ users }}) {{
  const it = express();
  {}
  return it;
}}
"""


@pytest.mark.parametrize(
    ("mount", "is_told"),
    [
        ('it.use("/admin", requireAdmin, admin(users));', False),
        (
            (
                'const areas = [["/admin", [requireAdmin], admin(users)]];\n'
                "  for (const [path, guards, router] of areas) { it.use(path, ...guards, router); }"
            ),
            False,
        ),
        (
            (
                'const areas = [{ path: "/admin", guard: requireAdmin, router: admin(users) }];\n'
                "  areas.forEach(({ path, guard, router }) => it.use(path, guard, router));"
            ),
            False,
        ),
        ('it.use("/admin", cached, admin(users));', True),
        ('it.use("/admin", requireAdmin, admin(users));\n  it.use("/open", cached, admin(users));', True),
        (
            (
                'const areas = [["/admin", [cached], admin(users)]];\n'
                "  for (const [path, guards, router] of areas) { it.use(path, ...guards, router); }"
            ),
            True,
        ),
        ("return admin(users);", True),
    ],
)
def test_a_check_that_the_mount_makes(mount: str, is_told: bool) -> None:
    app = APP.format(mount)
    base = {"src/admin.js": ADMIN.format(CHECK), "src/app.js": app}
    head = {"src/admin.js": ADMIN.format(""), "src/app.js": app}
    found = Protections().scan(make_request(head, base)).findings
    assert any(one.rule_id == "protection-removed" for one in found) is is_told
