"""Flows over two files: the texts, the caller first, and the rule."""

from __future__ import annotations

ACROSS = {
    "typescript": (
        {
            "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["src/lib/*"]}}}\n',
            "src/route.ts": "import { remove } from '@lib/files';\n"
            "router.delete('/x', (req, res) => remove(req.params.name));\n",
            "src/lib/files.ts": "import fs from 'fs';\n"
            "export function remove(name: string) {\n  fs.unlinkSync('/data/' + name);\n}\n",
        },
        "flow.path-from-request",
    ),
    "nest": (
        {
            "src/a.controller.ts": "import { AService } from './a.service';\n@Controller('a')\n"
            "export class AController {\n  constructor(private readonly service: AService) {}\n"
            "  @Get()\n  list(@Query('sort') sort: string) {\n    return this.service.sorted(sort);\n  }\n}\n",
            "src/a.service.ts": "@Injectable()\nexport class AService {\n  sorted(by: string) {\n"
            "    return this.db.query(`select * from a order by ${by}`);\n  }\n}\n",
        },
        "flow.sql-built",
    ),
    "go": (
        {
            "web/h.go": "package web\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n"
            '\tremoveFile(r.FormValue("n"))\n}\n',
            "web/files.go": 'package web\n\nfunc removeFile(n string) {\n\tos.Remove("/data/" + n)\n}\n',
        },
        "flow.path-from-request",
    ),
    "go package": (
        {
            "web/h.go": 'package web\n\nimport "example.invalid/app/internal/store"\n\n'
            'func h(w http.ResponseWriter, r *http.Request) {\n\tstore.Find(r.FormValue("n"))\n}\n',
            "internal/store/s.go": "package store\n\nfunc Find(n string) {\n"
            '\tdb.Query("select * from t where n = \'" + n + "\'")\n}\n',
        },
        "flow.sql-built",
    ),
    "php": (
        {
            "app/AController.php": "<?php\nclass AController {\n"
            "  public function __construct(private UserStore $store) {}\n"
            "  public function f(Request $request) {\n"
            "    return $this->store->named($request->input('n'));\n  }\n}\n",
            "app/UserStore.php": "<?php\nclass UserStore {\n  public function named($n) {\n"
            "    return $this->db->query(\"select * from u where n = '$n'\");\n  }\n}\n",
        },
        "flow.sql-built",
    ),
    "java": (
        {
            "src/A.java": "class A {\n  private UserStore store;\n"
            '  @GetMapping("/x")\n  String f(@RequestParam String n) {\n    return store.named(n);\n  }\n}\n',
            "src/UserStoreImpl.java": "class UserStoreImpl implements UserStore {\n"
            '  String named(String n) {\n    return jdbc.queryForObject("select a from u where n = \'" + n, S.class);'
            "\n  }\n}\n",
        },
        "flow.sql-built",
    ),
    "ruby": (
        {
            "app/controllers/a_controller.rb": "class AController < ApplicationController\n  def f\n"
            "    Report.convert_file(params[:name])\n  end\nend\n",
            "app/models/report.rb": 'class Report\n  def self.convert_file(name)\n    system("convert #{name}")\n'
            "  end\nend\n",
        },
        "flow.shell-command",
    ),
    "csharp": (
        {
            "A.cs": "public class AController {\n  private readonly IUserStore _store;\n"
            '  [HttpGet("x")]\n  public IActionResult F(string n) {\n    return Ok(_store.Named(n));\n  }\n}\n',
            "UserStore.cs": "public class UserStore : IUserStore {\n  public object Named(string n) {\n"
            '    var c = new SqlCommand("select * from u where n = \'" + n + "\'", conn);\n    return c;\n  }\n}\n',
        },
        "flow.sql-built",
    ),
    "kotlin": (
        {
            "A.kt": 'class A(private val store: UserStore) {\n  @GetMapping("/x")\n'
            "  fun f(@RequestParam n: String): String {\n    return store.named(n)\n  }\n}\n",
            "UserStore.kt": "class UserStore {\n  fun named(n: String): String {\n"
            "    return jdbc.queryForObject(\"select a from u where n = '${n}'\", String::class.java)\n  }\n}\n",
        },
        "flow.sql-built",
    ),
}
