"""Java and Kotlin: Spring, JAX-RS, servlets, Ktor; JDBC, JPA, processes, files, clients, XML."""

from __future__ import annotations

from typing import Final

from gate.regex import regex
from gate.taint.language import Language, Sink, clean, sink, source

_REQUEST: Final = (
    r"(?:^|\.)(?:request|req|httpRequest|servletRequest|webRequest"
    r"|exchange)(?:\.\w+\(\))*\||\|(?:Http)?Servlet\w*Request$|\|\w*Request$"
    r"|\|ServerWebExchange$"
)
_NUMBERS: Final = frozenset({
    "int", "long", "boolean", "integer", "double", "float", "short", "uuid", "localdate",
    "localdatetime", "instant",
    "bigdecimal", "biginteger", "date", "pageable", "multipartfile", "bool", "char", "byte", "principal",
    "authentication", "locale",
})  # fmt: skip
_SHELL: Final = r"^(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh$|^cmd(?:\.exe)?$|^powershell"
_DATA_ONLY: Final = (
    r"\A(?=[\s\S]*SimpleEvaluationContext)"
    r"(?![\s\S]*(?:Standard|MethodBased)EvaluationContext)"
)
"""Expressions that only read properties: no types, no constructors."""
_SINKS: Final[tuple[Sink, ...]] = (
    sink(
        "sql",
        "executeQuery executeUpdate execute executeLargeUpdate addBatch",
        r"(?:stmt|statement|st|s|sql\w*|createStatement\(\)"
        r"|jdbc\w*|template|conn\w*)\|"
        r"|\|(?:Statement|JdbcTemplate|\w*JdbcTemplate|JdbcOperations)$",
    ),
    sink(
        "sql",
        "query queryForList queryForObject queryForMap queryForRowSet update batchUpdate queryForStream",
        r"jdbc|template|\|\w*Jdbc\w+$",
    ),
    sink("sql", "createQuery createNativeQuery createSQLQuery", ""),
    sink("sql", "prepareStatement prepareCall nativeQuery rawQuery execSQL", ""),
    sink("sql", "sql", r"(?:jdbcClient|databaseClient)\|"),
    sink("shell", "exec", r"(?:getRuntime\(\)|runtime|rt)\||\|Runtime$"),
    sink("shell", "ProcessBuilder", r"^new\||^\|", ("*",), given=_SHELL),
    sink("shell", "ProcessBuilder", r"^new\||^\|"),
    sink("code", "eval", r"engine|\|ScriptEngine$|shell|groovy"),
    sink("code", "parseExpression parseRaw", "", unless=_DATA_ONLY),
    sink("code", "compileExpression executeExpression evalToBoolean", r"mvel"),
    sink("code", "eval compileExpression", r"mvel|scriptEngine"),
    sink("code", "createExpression createScript", r"jexl|JexlEngine"),
    sink("code", "getValue parseExpression setValue", r"(?:^|\.)Ognl\|"),
    sink("code", "createValueExpression", "", (1,)),
    sink("code", "parse parseClass", r"groovy|GroovyShell|GroovyClassLoader"),
    sink("code", "evaluate", r"(?:shell|groovy|GroovyShell|jexl|mvel|ognl)"),
    sink(
        "path",
        "File FileInputStream FileOutputStream FileReader FileWriter RandomAccessFile"
        " FileSystemResource PrintWriter",
        r"^new\||^\|",
        ("*",),
    ),
    sink("path", "copy move", r"(?:^|\.)Files\|", (0, 1)),
    sink(
        "path",
        "readAllBytes readString newInputStream newOutputStream newBufferedReader write"
        " writeString delete deleteIfExists  createFile createDirectories lines"
        " walk list readAllLines",
        r"(?:^|\.)Files\|",
    ),
    sink(
        "path",
        "readText readBytes writeText writeBytes deleteRecursively inputStream forEachLine",
        r"File\(\)\||new\|",
        (-1,),
    ),
    sink("path", "sendFile respondFile", "", (0,)),
    sink("ssrf", "openConnection openStream getContent", "", (-1,)),
    sink(
        "ssrf",
        "getForObject getForEntity postForObject postForEntity exchange execute headForHeaders",
        r"rest|template|\|RestTemplate$",
    ),
    sink("ssrf", "uri", r"webclient|restclient|HttpRequest|newBuilder|get\(\)|post\(\)|builder|client"),
    sink("ssrf", "HttpGet HttpPost HttpPut HttpDelete", r"^new\||^\|"),
    sink("ssrf", "url", r"Request\.Builder|Builder\(\)|builder|Builder"),
    sink("ssrf", "connect", r"(?:^|\.)Jsoup\|"),
    sink("ssrf", "get post put", r"(?:^|\.)(?:httpClient|client|HttpClient)\|\w*HttpClient$"),
    sink(
        "xss",
        "print println write append format printf",
        r"getWriter|getOutputStream|(?:^|\.)(?:out|writer"
        r"|response|pw|printWriter)\|"
        r"|\|PrintWriter$",
        ("*",),
        needs="html",
    ),
    sink("xss", "body ok", r"ResponseEntity|ok\(\)|contentType", needs="html"),
    sink("xss", "respondText", "", needs="html"),
    sink("template", "process", r"templateEngine|\|\w*TemplateEngine$"),
    sink("template", "Template", r"^new\||^\|", (1, 2)),
    sink("template", "evaluate", r"Velocity", (3, 2)),
    sink("deserialise", "ObjectInputStream XMLDecoder", r"^new\||^\|"),
    sink("deserialise", "fromXML", r"xstream"),
    sink("deserialise", "readObject", r"kryo|hessian|xstream", (0,)),
    sink("deserialise", "load loadAll", r"yaml|\|Yaml$", unless=r"SafeConstructor"),
    sink("deserialise", "parseObject", r"^JSON\|", (0,), given=r"(?!)"),
    sink("redirect", "sendRedirect", ""),
    sink("redirect", "RedirectView", r"^new\||^\|"),
    sink("redirect", "respondRedirect", ""),
    sink("redirect", "location", r"ResponseEntity|status\(\)|Response"),
    sink(
        "xml",
        "parse unmarshal read createXMLStreamReader createXMLEventReader build",
        r"builder|docb|xml|sax|parser|reader|unmarshaller"
        r"|\|(?:DocumentBuilder|SAXParser"
        r"|XMLReader|SAXReader|XMLInputFactory"
        r"|Unmarshaller|SAXBuilder)$",
        unless=r"disallow-doctype-decl|FEATURE_SECURE_PROCESSING"
        r"|external-general-entities"
        r"|ACCESS_EXTERNAL_DTD|SUPPORT_DTD|IS_SUPPORTING_EXTERNAL"
        r"|setExpandEntityReferences\(false|(?:json|Json|objectMapper)",
    ),
    sink(
        "jwt",
        "parse parseClaimsJwt parseUnsecuredClaims",
        r"(?:Jwts|parser|jwt)\w*(?:\(\))?\|",
        unless=r"setSigningKey|verifyWith|parseClaimsJws"
        r"|parseSignedClaims|require\(Algorithm",
    ),
    sink("jwt", "decode", r"(?:^|\.)JWT\|", unless=r"\.verify\(|JWT\.require"),
)
_CLEANERS: Final = (
    clean(
        "all",
        "parseInt parseLong valueOf parseDouble parseBoolean fromString parseFloat toInt"
        " toLong toIntOrNull toLongOrNull toDouble toBoolean"
        " toUUID nameUUIDFromBytes",
        r"^(?!String\|)",
    ),
    clean(
        "path",
        "getName cleanPath getFileName sanitizeFilename",
        r"FilenameUtils|Paths|Path|File"
        r"|file|^\|path",
    ),
    clean(
        "xss",
        "escapeHtml4 escapeHtml htmlEscape forHtml forHtmlContent encodeForHTML"
        " escapeHtml3 forHtmlAttribute clean escapeHTML",
    ),
    clean(
        "ssrf redirect path xss",
        "encode encodePath encodeQueryParam encodePathSegment urlEncode encodeURLParameter",
    ),
    clean("sql", "quote escapeSql quoteIdentifier encodeForSQL"),
    clean("ssrf redirect", "buildAndExpand fromCurrentRequest fromCurrentContextPath toUriString fromPath"),
    clean("shell", "quote escapeXSI"),
)
_MATTERS: Final = regex(
    r"[qQ]uery|[eE]xecut|exec|ProcessBuilder|File|Path|URL|[rR]est|[cC]lient|Redirect"
    r"|redirect|Writer|Object|eval|parse|Template|load|body|respond|jdbc|update|Html"
)
_MARKS: Final = regex(
    r"(?:RequestParam|PathVariable|RequestBody|RequestHeader|CookieValue"
    r"|ModelAttribute|MatrixVariable|PathParam|QueryParam|FormParam|HeaderParam"
    r"|CookieParam|RequestPart|DestinationVariable|Payload|Toolparam|ToolParam"
    r"|QueryValue)\b"
)
_ENTRY: Final = regex(
    r"(?:(?:Get|Post|Put|Delete|Patch|Request)Mapping|GET|POST|PUT|DELETE|PATCH"
    r"|MessageMapping|KafkaListener|RabbitListener|Tool)\b"
)
_GIVEN: Final = regex(
    r"Model\b|ModelMap|BindingResult|Http|Servlet|Principal|Authentication|Session"
    r"|Pageable|Locale|Response|Request\b"
    r"|RedirectAttributes|Multipart|Errors|Context|Exchange|User\w*$|SecurityContext"
    r"|UriInfo|UriComponentsBuilder|WebRequest|Sort$"
)
_CALLS: Final = (
    source("getOriginalFilename getSubmittedFileName"),
    source(
        "getParameter getHeader getQueryString getParameterValues getCookies getPathInfo"
        " getRequestURI getInputStream getReader getParameterMap getHeaders getPart"
        " getRequestURL getParameterNames queryParam pathVariable getQueryParams"
        " queryParams getRequestedSessionId bodyToMono",
        _REQUEST,
    ),
    source("call", r"(?:chatClient|chatModel|model)\|", "model"),
    source("generate content", r"(?:chatClient|chatModel|chatLanguageModel|assistant|call\(\))\|", "model"),
)
_READS: Final = (
    source("originalFilename originalFileName"),
    source("parameters receiveText queryParameters rawQueryParameters", r"(?:^|\.)call(?:\.request)?\|"),
)

JAVA: Final = Language(
    name="java",
    suffixes=(".java",),
    grammar="tree_sitter_java",
    reads=(),
    calls=_CALLS,
    fills=(),
    names={},
    sinks=_SINKS,
    cleaners=_CLEANERS,
    parameter_marks=_MARKS,
    entry_marks=_ENTRY,
    given=_GIVEN,
    numbers=_NUMBERS,
    matters=_MATTERS,
)
KOTLIN: Final = Language(
    name="kotlin",
    suffixes=(".kt", ".kts"),
    grammar="tree_sitter_kotlin",
    reads=_READS,
    calls=(*_CALLS, source("receive receiveText receiveParameters", r"(?:^|\.)call\|")),
    fills=(),
    names={},
    sinks=_SINKS,
    cleaners=_CLEANERS,
    parameter_marks=_MARKS,
    entry_marks=_ENTRY,
    given=_GIVEN,
    numbers=_NUMBERS,
    matters=_MATTERS,
)
