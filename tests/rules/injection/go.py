"""Go: handlers of net/http and gin."""

from __future__ import annotations


def handler(body: str) -> str:
    """A handler with this body."""
    lines = "\n\t".join(body.split("\n"))
    return f"package a\n\nfunc h(w http.ResponseWriter, r *http.Request) {{\n\t{lines}\n}}\n"


def gin(body: str) -> str:
    """The same of gin."""
    lines = "\n\t".join(body.split("\n"))
    return f"package a\n\nfunc h(c *gin.Context) {{\n\t{lines}\n}}\n"


PAIRS = [
    ("sql", handler('id := r.URL.Query().Get("id")\ndb.Query("select * from t where id = " + id)'),
     handler('id := r.URL.Query().Get("id")\ndb.Query("select * from t where id = ?", id)')),
    ("sql", handler('id := r.FormValue("id")\nq := fmt.Sprintf("select * from t where id = %s", id)\ndb.Exec(q)'),
     handler('id, err := strconv.Atoi(r.FormValue("id"))\nif err != nil {\n\treturn\n}\n'
             'q := fmt.Sprintf("select * from t where id = %d", id)\ndb.Exec(q)')),
    ("sql", gin('s := c.Query("sort")\ndb.Order("name " + s).Find(&out)'),
     gin('s := c.Query("sort")\nif !allowed[s] {\n\treturn\n}\ndb.Order("name " + s).Find(&out)')),
    ("sql", gin('s := c.Query("sort")\ndb.Raw("select * from t order by " + s)'),
     gin('s := c.Query("sort")\nif _, ok := columns[s]; !ok {\n\ts = "name"\n}\ndb.Raw("select * from t order by " + s)')),
    ("sql", handler('var s string\nswitch r.FormValue("s") {\ncase "a":\n\ts = "x"\ndefault:\n\ts = r.FormValue("s")\n}\n'
                    'db.Query("select * from t order by " + s)'),
     handler('var s string\nswitch r.FormValue("s") {\ncase "a":\n\ts = "x"\ndefault:\n\ts = "y"\n}\n'
             'db.Query("select * from t order by " + s)')),
    ("shell", handler('exec.Command("sh", "-c", "ping "+r.FormValue("h")).Run()'),
     handler('exec.Command("ping", r.FormValue("h")).Run()')),
    ("shell", gin('exec.CommandContext(ctx, c.Query("cmd")).Run()'), gin('exec.CommandContext(ctx, "ls", c.Query("d")).Run()')),
    ("path", handler('f, _ := os.Open(filepath.Join(root, r.URL.Query().Get("f")))\ndefer f.Close()'),
     handler('f, _ := os.Open(filepath.Join(root, filepath.Base(r.URL.Query().Get("f"))))\ndefer f.Close()')),
    ("path", handler('p := filepath.Join(root, r.FormValue("f"))\nhttp.ServeFile(w, r, p)'),
     handler('p := filepath.Join(root, r.FormValue("f"))\nif !strings.HasPrefix(p, root+string(os.PathSeparator)) {\n\treturn\n}\nhttp.ServeFile(w, r, p)')),
    ("path", gin('n := c.Param("n")\nb, _ := os.ReadFile(root + n)\n_ = b'),
     gin('n := c.Param("n")\nif strings.Contains(n, "..") {\n\treturn\n}\nb, _ := os.ReadFile(root + n)\n_ = b')),
    ("ssrf", handler('resp, _ := http.Get(r.FormValue("url"))\n_ = resp'),
     handler('resp, _ := http.Get("https://api.example/u/" + url.PathEscape(r.FormValue("u")))\n_ = resp')),
    ("ssrf", handler('u := r.FormValue("url")\nreq, _ := http.NewRequest("GET", u, nil)\n_ = req'),
     handler('u := r.FormValue("url")\nif !isAllowedHost(u) {\n\treturn\n}\nreq, _ := http.NewRequest("GET", u, nil)\n_ = req')),
    ("xss", handler('fmt.Fprintf(w, "<h1>%s</h1>", r.FormValue("n"))'),
     handler('fmt.Fprintf(w, "<h1>%s</h1>", html.EscapeString(r.FormValue("n")))')),
    ("xss", handler('d.Body = template.HTML(r.FormValue("b"))'), handler('d.Body = r.FormValue("b")')),
    ("redirect", handler('http.Redirect(w, r, r.FormValue("next"), 302)'),
     handler('http.Redirect(w, r, "/done?next="+r.FormValue("next"), 302)')),
    ("template", handler('t, _ := template.New("x").Parse(r.FormValue("t"))\n_ = t'),
     handler('t, _ := template.New("x").Parse("{{.}}")\nt.Execute(w, r.FormValue("t"))')),
    ("sql", "package a\n\nfunc find(name string) {\n\tdb.Query(\"select * from t where n = '\" + name + \"'\")\n}\n\n"
            "func h(w http.ResponseWriter, r *http.Request) {\n\tfind(r.FormValue(\"n\"))\n}\n",
     "package a\n\nfunc find(name string) {\n\tdb.Query(\"select * from t where n = '\" + name + \"'\")\n}\n\n"
     "func h(w http.ResponseWriter, r *http.Request) {\n\tfind(\"fixed\")\n}\n"),
    ("sql", gin('var f Filter\nc.ShouldBindJSON(&f)\ndb.Exec("delete from t where n = \'" + f.Name + "\'")'),
     gin('var f Filter\nc.ShouldBindJSON(&f)\ndb.Exec("delete from t where n = ?", f.Name)')),
]  # fmt: skip
