"""PHP: superglobals, Laravel, Symfony, PSR-7; PDO, mysqli, Eloquent, processes, files, clients."""

from __future__ import annotations

from typing import Final

from gate.regex import regex
from gate.taint.language import Language, clean, sink, source

_REQUEST: Final = (
    r"(?:^|\.)(?:request|req|input|this\.request|request\(\))(?:\.(?:query|request"
    r"|attributes|headers|cookies|files|server))?\||\|(?:\w*Request"
    r"|ServerRequestInterface)$|^(?:Input|Request)\||^Illuminate.*Request\|"
)
_DATABASE: Final = (
    r"(?:^|\.)(?:\w*db|pdo|dbh|conn|connection|mysqli|database|wpdb|link|em"
    r"|entityManager|adapter|sql)(?:\(\))?\||\|(?:PDO|mysqli|Connection"
    r"|EntityManager\w*)$|DB\|$"
)

PHP: Final = Language(
    name="php",
    suffixes=(".php", ".phtml"),
    grammar="tree_sitter_php:language_php",
    reads=(),
    calls=(
        source(
            "input get query post all only except cookie header json route string str collect"
            " getContent getQueryParams getParsedBody getParam getQueryParam getBody file",
            _REQUEST,
        ),
        source("request", "-"),
        source("getClientOriginalName getClientOriginalExtension getClientFilename"),
        source("getallheaders apache_request_headers", "-"),
    ),
    fills=(),
    names={
        "_GET": "request",
        "_POST": "request",
        "_REQUEST": "request",
        "_COOKIE": "request",
        "_FILES": "request",
        "argv": "input",
        "HTTP_RAW_POST_DATA": "request",
    },
    sinks=(
        sink(
            "sql",
            "query exec prepare multi_query real_query unprepared executeQuery"
            " fetchAllAssociative fetchAssociative fetchOne fetchAll fetchFirstColumn fetchNumeric"
            " executeStatement createQuery createNativeQuery get_results get_var get_row"
            " get_col",
            _DATABASE,
        ),
        sink("sql", "mysqli_query mysqli_multi_query pg_query mysql_query sqlsrv_query", "-", (0, 1)),
        sink("sql", "select statement insert update delete unprepared", r"(?:^|\.)DB\||DB::"),
        sink("sql", "raw whereRaw orderByRaw selectRaw havingRaw groupByRaw orWhereRaw fromRaw joinRaw", ""),
        sink(
            "sql",
            "where andWhere orWhere having orderBy",
            r"(?:qb|queryBuilder|createQueryBuilder)\b|\(\)\|",
            needs="built",
        ),
        sink("shell", "exec shell_exec system passthru popen proc_open pcntl_exec `", "-"),
        sink("shell", "fromShellCommandline", r"Process\|"),
        sink("code", "eval assert", "-"),
        sink("code", "create_function", "-", (0, 1)),
        sink("code", "preg_replace", "(?!)"),
        sink("path", "include require", "-"),
        sink(
            "path",
            "file_get_contents file_put_contents fopen readfile unlink file copy rename rmdir"
            " mkdir opendir scandir show_source highlight_file parse_ini_file",
            "-",
        ),
        sink(
            "path",
            "download file get put delete readStream",
            r"(?:^|\.)(?:Storage|File|response\(\)|disk\(\)|filesystem)\|",
            needs="built request",
        ),
        sink("upload", "move_uploaded_file", "-", (1,)),
        sink("upload", "move storeAs moveTo", r"file|upload|image|photo|avatar|picture|document", (0, 1)),
        sink("ssrf", "file_get_contents fopen curl_init get_headers getimagesize", "-"),
        sink("ssrf", "curl_setopt", "-", (2,), given=r"(?!)"),
        sink(
            "ssrf",
            "get post put patch head request",
            r"(?:^|\.)(?:Http|client|httpClient|guzzle|this\.client)(?:\(\))?\||\|(?:Client"
            r"|HttpClientInterface|GuzzleHttp\w*)$",
            (0, 1),
        ),
        sink("xss", "echo print printf die", "-", ("*",)),
        sink("xss", "HtmlString", r"^new\|"),
        sink("xss", "Response response", r"^new\||^\|", needs="html"),
        sink(
            "template",
            "createTemplate renderString compileString render",
            r"(?:twig|blade|Blade|view|smarty|env)\|",
            needs="built request",
        ),
        sink("deserialise", "unserialize yaml_parse", "-", unless=r"allowed_classes"),
        sink("redirect", "redirect", "-"),
        sink("redirect", "to away redirect", r"(?:redirect\(\)|Redirect|this)\|"),
        sink("redirect", "RedirectResponse", r"^new\|"),
        sink("redirect", "header", "-", needs="built location"),
        sink("xml", "simplexml_load_string loadXML simplexml_load_file", "", given=r"(?!)"),
        sink("mass", "create update fill forceFill forceCreate", r"(?!)"),
        sink("mass", "forceFill forceCreate", ""),
        sink("extract", "extract parse_str", "(?!)"),
    ),
    cleaners=(
        clean(
            "all",
            "intval floatval boolval md5 sha1 hash count strlen ctype_digit is_numeric uniqid"
            " integer boolean float date enum abs time str_repeat array_fill crc32 bin2hex",
        ),
        clean("shell", "escapeshellarg escapeshellcmd"),
        clean(
            "xss",
            "htmlspecialchars htmlentities strip_tags e esc_html esc_attr h json_encode"
            " escape urlencode rawurlencode purify clean esc_url esc_url_raw wp_kses"
            " wp_kses_post",
        ),
        clean(
            "sql",
            "quote mysqli_real_escape_string real_escape_string pg_escape_string prepare"
            " esc_sql escape addslashes pg_escape_literal pg_escape_identifier"
            " quoteIdentifier",
        ),
        clean("path", "basename"),
        clean("ssrf redirect path", "urlencode rawurlencode http_build_query"),
        clean("sql shell code", "validated validate"),
        clean("redirect ssrf", "route url_for action site_url home_url wp_validate_redirect"),
        clean("all", "sanitize_key absint sanitize_file_name sanitize_title"),
    ),
    parameter_marks=regex(r"(?!)"),
    numbers=frozenset({"int", "float", "bool", "integer", "datetime", "carbon"}),
    matters=regex(
        r"query|exec|system|passthru|popen|proc_open|`|eval|include|require|file_|fopen"
        r"|readfile|unlink|curl|Http|echo|print|unserialize|redirect|header|raw|Raw|DB::"
        r"|prepare|<\?="
    ),
)
