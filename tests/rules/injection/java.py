"""Java: Spring, servlets; Kotlin at the end."""

from __future__ import annotations


def spring(parameters: str, body: str) -> str:
    """A handler of Spring."""
    return (
        '@RestController\nclass A {\n  private JdbcTemplate jdbc;\n  private static final Set<String> OK = Set.of("a");\n'
        f'  @GetMapping("/x")\n  String f({parameters}) throws Exception {{\n    {body}\n  }}\n}}\n'
    )


def servlet(body: str) -> str:
    """A handler of a servlet."""
    return f"class A extends HttpServlet {{\n  void doGet(HttpServletRequest request, HttpServletResponse response) {{\n    {body}\n  }}\n}}\n"


Q = "@RequestParam String q"
KOTLIN = '@RestController\nclass A(private val jdbc: JdbcTemplate) {\n  @GetMapping("/x")\n  fun f(@RequestParam q: String): String {\n    %s\n  }\n}\n'
PAIRS = [
    ("sql", spring(Q, "return jdbc.queryForObject(\"select n from t where id = '\" + q + \"'\", String.class);"),
     spring(Q, 'return jdbc.queryForObject("select n from t where id = ?", String.class, q);')),
    ("sql", spring(Q, 'return jdbc.queryForObject("select n from t where id = " + q, String.class);'),
     spring("@RequestParam long q", 'return jdbc.queryForObject("select n from t where id = " + q, String.class);')),
    ("sql", spring(Q, 'return em.createQuery("from T order by " + q).toString();'),
     spring(Q, 'if (!OK.contains(q)) { throw new E(); } return em.createQuery("from T order by " + q).toString();')),
    ("sql", spring(Q, 'StringBuilder b = new StringBuilder("select * from t where n = "); b.append(q);'
                      " stmt.executeQuery(b.toString()); return null;"),
     spring(Q, 'StringBuilder b = new StringBuilder("select * from t where n = "); b.append(Integer.parseInt(q));'
               " stmt.executeQuery(b.toString()); return null;")),
    ("sql", spring(Q, 'String s = switch (q) { case "a" -> "x"; default -> q; }; stmt.executeQuery("select 1 from t order by " + s); return s;'),
     spring(Q, 'String s = switch (q) { case "a" -> "x"; default -> "y"; }; stmt.executeQuery("select 1 from t order by " + s); return s;')),
    ("sql", servlet('String id = request.getParameter("id"); conn.prepareStatement("select * from t where id = " + id);'),
     servlet('String id = request.getParameter("id"); conn.prepareStatement("select * from t where id = ?").setString(1, id);')),
    ("shell", servlet('Runtime.getRuntime().exec("ping " + request.getParameter("h"));'),
     servlet('new ProcessBuilder("ping", request.getParameter("h")).start();')),
    ("shell", servlet('new ProcessBuilder("sh", "-c", "ls " + request.getParameter("d")).start();'),
     servlet('new ProcessBuilder("ls", "--", request.getParameter("d")).start();')),
    ("path", spring(Q, 'return Files.readString(Paths.get("/data", q));'),
     spring(Q, 'return Files.readString(Paths.get("/data", FilenameUtils.getName(q)));')),
    ("path", spring(Q, 'Path p = root.resolve(q).normalize(); return Files.readString(p);'),
     spring(Q, 'Path p = root.resolve(q).normalize(); if (!p.startsWith(root)) { throw new E(); } return Files.readString(p);')),
    ("ssrf", spring(Q, "return rest.getForObject(q, String.class);"),
     spring(Q, 'return rest.getForObject("https://api.example/u/{u}", String.class, q);')),
    ("ssrf", spring(Q, "return new String(new URL(q).openStream().readAllBytes());"),
     spring(Q, 'if (!OK.contains(new URL(q).getHost())) { return null; } return new String(new URL(q).openStream().readAllBytes());')),
    ("xss", spring(Q, 'return "<h1>" + q + "</h1>";'), spring(Q, 'return "<h1>" + HtmlUtils.htmlEscape(q) + "</h1>";')),
    ("xss", servlet('response.getWriter().println("<p>" + request.getParameter("n") + "</p>");'),
     servlet('response.getWriter().println("<p>" + Encode.forHtml(request.getParameter("n")) + "</p>");')),
    ("deserialise", servlet("new ObjectInputStream(request.getInputStream()).readObject();"),
     servlet("mapper.readValue(request.getInputStream(), T.class);")),
    ("redirect", servlet('response.sendRedirect(request.getParameter("u"));'),
     servlet('response.sendRedirect("/home?u=" + request.getParameter("u"));')),
    ("xml", servlet("DocumentBuilder builder = f.newDocumentBuilder(); builder.parse(request.getInputStream());"),
     servlet('f.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);'
             " DocumentBuilder builder = f.newDocumentBuilder(); builder.parse(request.getInputStream());")),
    ("code", servlet('engine.eval(request.getParameter("s"));'), servlet('engine.eval("1 + 1");')),
    ("redirect", spring(Q, 'return "redirect:" + q;'), spring(Q, 'return "redirect:/owners/" + q;')),
]  # fmt: skip
KOTLIN_PAIRS = [
    ("sql", KOTLIN % 'return jdbc.queryForObject("select n from t where id = \'$q\'", String::class.java)',
     KOTLIN % 'return jdbc.queryForObject("select n from t where id = ?", String::class.java, q)'),
    ("sql", KOTLIN % 'val s = q\n    return jdbc.queryForList("select n from t order by ${s}").toString()',
     KOTLIN % 'val s = when (q) { "a" -> "x"\n else -> "y" }\n    return jdbc.queryForList("select n from t order by ${s}").toString()'),
    ("shell", KOTLIN % 'Runtime.getRuntime().exec("ping " + q)\n    return ""',
     KOTLIN % 'ProcessBuilder("ping", q).start()\n    return ""'),
    ("path", KOTLIN % 'return File("/data/" + q).readText()', KOTLIN % 'return File("/data/" + q.toInt()).readText()'),
    ("path", KOTLIN % 'return File("/data", q).readText()',
     KOTLIN % 'if (q !in setOf("a", "b")) return ""\n    return File("/data", q).readText()'),
    ("sql", "fun Route.r() {\n  get(\"/x\") {\n    val id = call.parameters[\"id\"]\n    stmt.executeQuery(\"select * from t where id = $id\")\n  }\n}\n",
     "fun Route.r() {\n  get(\"/x\") {\n    val id = call.parameters[\"id\"]?.toIntOrNull()\n"
     "    stmt.executeQuery(\"select * from t where id = $id\")\n  }\n}\n"),
]  # fmt: skip
