"""JavaScript and TypeScript: Express, Koa, Fastify, Hono, Next, NestJS, sockets; databases,
processes, files.
"""

from __future__ import annotations

from typing import Final

from gate.regex import regex
from gate.taint.language import Language, clean, sink, source

_REQUEST: Final = (
    r"(?:^|\.)(?:req|request|ctx|(?<!this\.)context|event|c)(?:\.(?:req|request))?\|"
    r"|\|(?:\w*Request|Context|\w*Event)$"
)
_DATABASE: Final = (
    r"(?:db|database|conn|connection|pool|client|knex|sql|sequelize|prisma|pg|mysql2?"
    r"|sqlite3?|orm|manager|repository|repo"
    r"|trx|tx|transaction|querybuilder|qb|datasource|queryrunner)(?:\(\)|\.promise)?\|"
    r"|\|(?:Pool|Client|Connection|Database|Sequelize|DataSource|EntityManager)$"
)
_MODEL: Final = r"(?:^|\.)[A-Z]\w*\||collection(?:\([^|]*)?\||(?:db|model|models?)\b[^|]*\|"

JAVASCRIPT: Final = Language(
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
    grammar="javascript",
    roots_are_parameters=True,
    reads=(
        source("query params body headers cookies signedCookies rawBody", _REQUEST),
        source("originalUrl url", r"(?:^|\.)(?:req|request)(?:\.req)?\||\|\w*Request$"),
        source("queryStringParameters pathParameters multiValueQueryStringParameters", r"event\|"),
        source("searchParams nextUrl", r"(?:req|request|nextUrl|url)\|"),
        source("originalname originalName originalFilename", r"file|upload|\|"),
        source("name", r"(?:^|\.)(?:req|request)\.files?\b"),
        source("search hash", r"(?:^|\.)location\|", "address"),
        source("argv", r"^process\|", "input"),
    ),
    calls=(
        source(
            "query param header queries json text formData parseBody",
            r"(?:^|\.)(?:c|ctx|context)\.req\||(?:^|\.)(?:request|req)\|",
        ),
        source("get header param", r"(?:^|\.)(?:req|request)\|"),
        source("create parse", r"(?:chat\.completions|messages|responses|completions)\|", "model"),
        source("generateText generateObject", "", "model"),
    ),
    fills=(),
    names={},
    sinks=(
        sink("sql", "query execute raw unsafe exec queryRawUnsafe executeRawUnsafe", _DATABASE),
        sink("sql", "run all each prepare", _DATABASE, needs="sql"),
        sink("sql", "whereRaw havingRaw orderByRaw joinRaw groupByRaw selectRaw fromRaw", ""),
        sink("sql", "literal", r"[sS]equelize|(?:^|\.)db\|"),
        sink("sql", "get", r"(?:db|database|sqlite)\|", needs="sql"),
        sink("sql", "query execute", r"|", needs="sql"),
        sink("sql", "where andWhere orWhere having", r"(?:qb|querybuilder|query\w*|\(\))\|", needs="built"),
        sink(
            "nosql",
            "find findOne findOneAndUpdate updateOne updateMany deleteOne deleteMany"
            " findOneAndDelete count countDocuments aggregate",
            _MODEL,
            unless=r"sequelize|typeorm|prisma|knex|objection|mongo-sanitize|mongoSanitize|sanitizeFilter",
        ),
        sink("shell", "exec execSync", r"child_process|\b(?:cp|childProcess|shell|shelljs)\||execa\|"),
        sink("shell", "execAsync execPromise execaCommand execaCommandSync", "-"),
        sink("shell", "command commandSync", r"^execa\|"),
        sink("shell", "spawn spawnSync execFile execFileSync fork", r"child_process|\b(?:cp|childProcess)\|"),
        sink(
            "shell",
            "spawn spawnSync execFile execFileSync",
            r"child_process|\b(?:cp|childProcess)\|",
            (1,),
            given=r"^(?:/bin/)?(?:ba|z|da)?sh$|^cmd(?:\.exe)?$|^powershell",
        ),
        sink("code", "eval", "-"),
        sink("code", "Function", r"^new\||^\|", ("*",)),
        sink("code", "runInNewContext runInThisContext runInContext compileFunction", ""),
        sink("code", "Script", r"^new\|"),
        sink("code", "setTimeout setInterval", "-", needs="built"),
        sink(
            "path",
            "readFile readFileSync writeFile writeFileSync createReadStream createWriteStream"
            " appendFile appendFileSync unlink unlinkSync rm rmSync readdir readdirSync mkdir"
            " mkdirSync rmdir rmdirSync open openSync copyFile rename renameSync readJson"
            " readJSON outputFile remove lstatSync",
            r"\bfs\b|fsp|fs-extra|fs/promises|graceful-fs|fse|\bpromises\|",
        ),
        sink(
            "path",
            "sendFile sendfile download",
            r"(?:^|\.)(?:res|response|reply|\w*\(\))\||\|Response$",
            unless=r"(?!)",
        ),
        sink("ssrf", "fetch", "-"),
        sink("ssrf", "axios got request superagent needle ky nodeFetch", "-"),
        sink("ssrf", "axios got request node-fetch needle undici.request cross-fetch", r"^\|"),
        sink(
            "ssrf",
            "get post put patch delete head request stream",
            r"(?:^|\.)(?:axios\w*|got|superagent|needle|ky|https?|undici|request|httpService)\|",
            (0, "url"),
        ),
        sink("ssrf", "goto", r"page\|"),
        sink(
            "xss",
            "send end write html",
            r"(?:^|\.)(?:res|response|reply|resp|\w*\(\)|c|ctx)\||\|Response$",
            needs="html",
        ),
        sink("xss", "dangerouslySetInnerHTML", ""),
        sink("xss", "insertAdjacentHTML", "", (1,)),
        sink("xss", "write writeln", r"^document\|"),
        sink("xss", "SafeString bypassSecurityTrustHtml", ""),
        sink("xss", "Response", r"^new\|", needs="html"),
        sink(
            "template",
            "compile render renderString template",
            r"(?:^|\.)(?:ejs|pug|nunjucks|handlebars|hbs|mustache|doT|dot|eta|lodash|_|swig"
            r"|jade|liquid|engine)\|",
            unless=r"(?!)",
        ),
        sink("deserialise", "unserialize", r"serialize|^\|"),
        sink(
            "deserialise",
            "load loadAll",
            r"^(?:js-)?yaml\|",
            unless=r"js-yaml['\"]|SAFE_SCHEMA|JSON_SCHEMA|\bsafeLoad",
        ),
        sink("deserialise", "deserialize", r"v8|funcster|cryo|serialize-to-js"),
        sink(
            "redirect",
            "redirect",
            r"(?:^|\.)(?:res|response|reply|ctx|c|NextResponse|Response|\w*\(\))\||\|Response$",
            (0, 1),
        ),
        sink("redirect", "redirect permanentRedirect", r"next/navigation|^\|"),
        sink("jwt", "decode", r"jwt|jsonwebtoken|jose|^\|$", unless=r"[vV]erify\w*\("),
        sink(
            "jwt",
            "jwtDecode jwt_decode decodeJwt",
            "",
            unless=r"[vV]erify\w*\(|\"use client\"|'use client'|react|localStorage|vue",
        ),
        sink(
            "proto",
            "merge defaultsDeep mergeWith set setWith",
            r"(?:^|\.)(?:_|lodash|lodash[./]\w+|deepmerge|object-path|dot-prop|dottie)\|",
            ("*",),
            unless=r"(?!)",
        ),
        sink("proto", "extend", r"(?:^|\.)(?:\$|jQuery|node\.extend)\|", (2, 1)),
        sink(
            "mass",
            "create build insertMany findByIdAndUpdate bulkCreate",
            r"(?:^|\.)[A-Z]\w*\|$",
            needs="request",
        ),
        sink("regex", "RegExp", r"^new\|"),
    ),
    cleaners=(
        clean("all", "parseInt parseFloat Number Boolean BigInt isNaN ObjectId isValid"),
        clean("path", "basename sanitize sanitizeFilename", r"path|^\||sanitize"),
        clean("ssrf redirect xss path sql template", "encodeURIComponent"),
        clean(
            "xss",
            "escape escapeHtml escapeHTML encodeHTML htmlEscape sanitizeHtml sanitize encode he escapeXml",
            r"^(?!.*(?:mysql|conn|pool|db))",
        ),
        clean(
            "sql",
            "escape escapeId escapeLiteral escapeIdentifier format quote",
            r"mysql|sqlstring|conn|pool|client|db|pg|sequelize",
        ),
        clean("shell", "quote escape shellescape shellQuote", r"shell|^\|"),
        clean("nosql proto mass xss", "String toString", ""),
        clean("nosql", "trim toLowerCase toUpperCase slice substring split replace sanitize"),
        clean(
            "regex",
            "escapeRegExp escapeRegex escapeStringRegexp escapeStringRegExp escape_regex escapeRegexp",
        ),
        clean("xss", "URL", r"^new\|"),
        clean("xss", "stringify", r"^JSON\|"),
    ),
    assigned={"innerHTML": "xss", "outerHTML": "xss"},
    parameter_marks=regex(r"(?:Query|Param|Body|Headers?|UploadedFiles?|Cookies?)\("),
    given=regex(r"^(?:File|Express\.Multer)"),
    numbers=frozenset({"number", "boolean", "bigint", "date"}),
    matters=regex(
        r"query|exec|[eE]val|Function|readFile|File|Stream|fetch|axios|got|request"
        r"|redirect|innerHTML|render|compile|send|merge|decode|unserialize|find|raw|spawn"
        r"|rm|unlink|dangerously|literal|SafeString|vm\b"
    ),
)
