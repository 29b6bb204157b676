"""C#: ASP.NET Core."""

from __future__ import annotations


def action(parameters: str, body: str) -> str:
    """An action of a controller."""
    return (
        "public class A : ControllerBase {\n  private readonly AppDb _db;\n  static readonly HashSet<string> Ok = new();\n"
        f'  [HttpGet("x")]\n  public IActionResult F({parameters}) {{\n    {body}\n  }}\n}}\n'
    )


Q = "string q"
PAIRS = [
    ("sql", action(Q, "var c = new SqlCommand(\"select * from t where n = '\" + q + \"'\", conn); return Ok();"),
     action(Q, 'var c = new SqlCommand("select * from t where n = @n", conn); c.Parameters.AddWithValue("@n", q); return Ok();')),
    ("sql", action(Q, 'var c = new SqlCommand($"select * from t where n = {q}", conn); return Ok();'),
     action("int q", 'var c = new SqlCommand($"select * from t where n = {q}", conn); return Ok();')),
    ("sql", action(Q, "return Ok(_db.Users.FromSqlRaw($\"select * from u where n = '{q}'\"));"),
     action(Q, 'return Ok(_db.Users.FromSqlRaw("select * from u where n = {0}", q));')),
    ("sql", action(Q, 'cmd.CommandText = "select * from t order by " + q; return Ok();'),
     action(Q, 'if (!Ok.Contains(q)) { return BadRequest(); } cmd.CommandText = "select * from t order by " + q; return Ok();')),
    ("sql", action(Q, 'var s = q switch { "a" => "x", _ => q }; cmd.CommandText = "select * from t order by " + s; return Ok();'),
     action(Q, 'var s = q switch { "a" => "x", _ => "y" }; cmd.CommandText = "select * from t order by " + s; return Ok();')),
    ("shell", action(Q, 'Process.Start("cmd.exe", "/c ping " + q); return Ok();'),
     action(Q, 'Process.Start("notepad.exe"); return Ok(q);')),
    ("path", action(Q, 'return Content(System.IO.File.ReadAllText(Path.Combine("/data", q)));'),
     action(Q, 'return Content(System.IO.File.ReadAllText(Path.Combine("/data", Path.GetFileName(q))));')),
    ("path", action(Q, 'var p = Path.GetFullPath(Path.Combine(root, q)); return PhysicalFile(p, "a/b");'),
     action(Q, 'var p = Path.GetFullPath(Path.Combine(root, q)); if (!p.StartsWith(root + Path.DirectorySeparatorChar)) { return Forbid(); } return PhysicalFile(p, "a/b");')),
    ("ssrf", action(Q, "var r = client.GetAsync(q).Result; return Ok();"),
     action(Q, 'var r = client.GetAsync("https://api.example/u/" + Uri.EscapeDataString(q)).Result; return Ok();')),
    ("xss", action(Q, 'return Content("<h1>" + q + "</h1>", "text/html");'),
     action(Q, 'return Content("<h1>" + HtmlEncoder.Default.Encode(q) + "</h1>", "text/html");')),
    ("deserialise", action(Q, "var f = new BinaryFormatter(); var o = f.Deserialize(Request.Body); return Ok();"),
     action(Q, "var o = JsonSerializer.Deserialize<T>(q); return Ok();")),
    ("redirect", action(Q, "return Redirect(q);"), action(Q, "return LocalRedirect(q);")),
    ("redirect", action(Q, "return Redirect(q);"), action(Q, 'if (!Url.IsLocalUrl(q)) { return Redirect("/"); } return Redirect(q);')),
    ("sql", action("", 'var id = Request.Query["id"]; cmd.CommandText = "select * from t where id = " + id; return Ok();'),
     action("", 'var id = int.Parse(Request.Query["id"]); cmd.CommandText = "select * from t where id = " + id; return Ok();')),
]  # fmt: skip
