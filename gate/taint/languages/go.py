"""Go: net/http, gin, echo, chi, fiber, gorilla; database/sql, gorm, os/exec, files, clients."""

from __future__ import annotations

from typing import Final

from gate.regex import regex
from gate.taint.language import Language, clean, sink, source

_HTTP: Final = r"\|http\.Request$|^(?:r|req|request)(?:\.\w+(?:\(\))?)*\||\.Request(?:\.\w+(?:\(\))?)*\|"
_CONTEXT: Final = (
    r"\|(?:gin|echo|fiber|macaron|context|iris|beego)\.(?:Context|Ctx)$|^(?:c"
    r"|ctx)(?:\.Request\(\))?\|$|^(?:c|ctx)\|\w*(?:Context|Ctx)$"
)
_DATABASE: Final = (
    r"(?:^|\.)(?:\w*db|tx|conn|stmt|pool|store|database|sess|session|engine|q|queries"
    r"|rw|x|e|db\w+)(?:\(.*\))?\||\|(?:sql|sqlx|pgx|pgxpool|gorm)\.\w+$|\(\)\|"
)
_ESCAPING: Final = (
    r"\A(?![\s\S]*\"text/template\"[\s\S]*(?:text/html|\.html|<(?:html|body|p|div|h\d|a|td|li|ul|span|b)\b))"
)
"""A file whose templates escape, or make no pages."""

GO: Final = Language(
    name="go",
    suffixes=(".go",),
    grammar="tree_sitter_go",
    reads=(
        source("Form PostForm Header Body Host RequestURI MultipartForm RawQuery", _HTTP),
        source("Args", r"^os\|", "input"),
    ),
    calls=(
        source("FormValue PostFormValue PathValue Cookie Referer UserAgent FormFile", _HTTP),
        source("Query", r"(?:URL|Request\.URL)\|"),
        source("Vars", r"mux\|"),
        source("URLParam", r"chi\|"),
        source(
            "Query QueryParam Param Params PostForm FormValue GetHeader DefaultQuery"
            " DefaultPostForm GetRawData QueryArray GetQuery Cookie Cookies Body BodyRaw"
            " FormParams QueryParams ParamsInt QueryTrim Get Header",
            _CONTEXT,
        ),
        source("Arg Args", r"^flag\|", "input"),
    ),
    fills=(
        source(
            "Bind BindJSON BindQuery ShouldBind ShouldBindJSON ShouldBindQuery ShouldBindUri"
            " BodyParser QueryParser BindUri ShouldBindWith",
            "",
        ),
        source("Decode", r"NewDecoder"),
    ),
    names={},
    sinks=(
        sink(
            "sql",
            "Query QueryRow Exec Queryx QueryRowx MustExec NamedExec NamedQuery Prepare Preparex",
            _DATABASE,
        ),
        sink("sql", "QueryContext QueryRowContext ExecContext QueryxContext PrepareContext", _DATABASE, (1,)),
        sink("sql", "Query QueryRow Exec", r"pgx|pool|conn", (1,), needs="built"),
        sink("sql", "Get Select GetContext SelectContext", _DATABASE, (1, 2), needs="built"),
        sink("sql", "Raw", ""),
        sink("sql", "Where Order Having Or Not Joins Group Select OrderBy", _DATABASE, needs="built"),
        sink("shell", "Command", r"^exec\||^os/exec\|"),
        sink("shell", "CommandContext", r"^exec\||^os/exec\|", (1,)),
        sink(
            "shell",
            "Command CommandContext",
            r"^exec\||^os/exec\|",
            (1, 2, 3),
            given=r"^(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh$|^cmd(?:\.exe)?$|^powershell",
        ),
        sink(
            "path",
            "Open OpenFile ReadFile WriteFile Create Remove RemoveAll Mkdir MkdirAll ReadDir Rename",
            r"^(?:os|ioutil|io/ioutil)\|",
        ),
        sink("path", "ServeFile", r"^(?:http|net/http)\|", (2,), unless=r"(?!)"),
        sink("path", "File SendFile FileAttachment Attachment", _CONTEXT),
        sink("path", "Join", r"(?!)"),
        sink(
            "ssrf",
            "Get Post Head PostForm",
            r"^(?:http|net/http)\||(?:^|\.)(?:client|httpClient|http\.DefaultClient)\||\|http\.Client$",
        ),
        sink("ssrf", "NewRequest", r"^(?:http|net/http)\|", (1,)),
        sink("ssrf", "NewRequestWithContext", r"^(?:http|net/http)\|", (2,)),
        sink("xss", "HTML JS HTMLAttr URL", r"^(?:template|html/template)\|"),
        sink(
            "xss",
            "Fprintf Fprint Fprintln",
            r"^fmt\|",
            (1, 2, 3, 4, 5),
            needs="html",
            first=r"(?:^|\.)(?:w|rw|resp|res|writer|Writer|Resp)\||ResponseWriter$",
        ),
        sink(
            "xss",
            "Write WriteString",
            r"(?:^|\.)(?:w|rw|resp|writer)\||\|http\.ResponseWriter$",
            needs="html",
        ),
        sink(
            "xss",
            "WriteString",
            r"^io\|",
            (1,),
            needs="html",
            first=r"(?:^|\.)(?:w|rw|resp|res|writer|Writer|Resp)\||ResponseWriter$",
        ),
        sink("xss", "Execute", r"text/template|\|template\.Template$", (1,), unless=_ESCAPING),
        sink("xss", "ExecuteTemplate", r"text/template|\|template\.Template$", (2,), unless=_ESCAPING),
        sink("xss", "HTML HTMLBlob", _CONTEXT, (1,), needs="html"),
        sink("xss", "Data", _CONTEXT, (2,), needs="html"),
        sink("template", "Parse", r"(?:template\.New|New\(\)|tmpl|template)\b"),
        sink("redirect", "Redirect", r"^(?:http|net/http)\|", (2,)),
        sink("redirect", "Redirect", _CONTEXT, (0, 1)),
        sink("deserialise", "Decode", r"gob\.NewDecoder"),
        sink("jwt", "ParseUnverified", "", (0,)),
        sink("code", "Open", r"^plugin\|"),
        sink("code", "Run RunString Eval DoString", r"(?:vm|otto|goja|lua|runtime|interp|yaegi|L)\|"),
    ),
    cleaners=(
        clean(
            "all",
            "Atoi ParseInt ParseUint ParseFloat ParseBool ParseUUID MustParseUUID ParseDuration ParamsInt",
        ),
        clean("all", "Parse MustParse", r"uuid|time|ulid"),
        clean("path", "Base IsLocal SecureJoin", r"path|securejoin|^\|"),
        clean("path", "Clean", r"(?!)"),
        clean("xss", "EscapeString HTMLEscapeString Sanitize SanitizeBytes JSEscapeString"),
        clean("ssrf redirect xss path", "PathEscape QueryEscape"),
        clean("sql", "QuoteIdentifier QuoteLiteral Sanitize"),
        clean("shell", "Quote", r"shell|shlex"),
        clean("all", "QuoteMeta", "(?!)"),
        clean("path", "TrimPathPrefix SafeJoin"),
    ),
    numbers=frozenset(
        {
            "int",
            "int64",
            "int32",
            "uint",
            "uint64",
            "uint32",
            "bool",
            "float64",
            "float32",
            "time.time",
            "uuid.uuid",
            "int8",
            "uint8",
            "time.duration",
        }
    ),
    matters=regex(
        r"Query|Exec|Raw\(|Where|Order|exec\.|os\.|ioutil|http\.|template\.|Redirect"
        r"|ServeFile|\.File\(|Fprint|Write|gob|ParseUnverified"
    ),
)
