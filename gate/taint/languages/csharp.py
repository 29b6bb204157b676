"""C#: ASP.NET Core and MVC, minimal APIs; ADO.NET, Entity Framework, Dapper, processes, files, clients."""

from __future__ import annotations

from typing import Final

from gate.regex import regex
from gate.taint.language import Language, clean, sink, source

_REQUEST: Final = r"(?:^|\.)(?:Request|request|req|HttpContext\.Request|context\.Request)\||\|HttpRequest$"

CSHARP: Final = Language(
    name="csharp",
    suffixes=(".cs",),
    grammar="tree_sitter_c_sharp",
    reads=(
        source("FileName", r"\|I?FormFile$|(?:^|\.)(?:file|formFile|upload|uploadedFile)\|"),
        source("Query Form Headers Cookies Path QueryString RouteValues Params Body RawUrl Url", _REQUEST),
    ),
    calls=(source("ReadFormAsync ReadFromJsonAsync GetTypedHeaders GetDisplayUrl", _REQUEST),),
    fills=(),
    names={},
    sinks=(
        sink(
            "sql",
            "SqlCommand SqliteCommand NpgsqlCommand MySqlCommand OracleCommand OleDbCommand"
            " SqlDataAdapter OdbcCommand SQLiteCommand",
            r"^new\|",
        ),
        sink(
            "sql",
            "FromSqlRaw ExecuteSqlRaw ExecuteSqlRawAsync SqlQueryRaw ExecuteSqlCommand SqlQuery FromSql",
            "",
            needs="built",
        ),
        sink(
            "sql",
            "Query QueryAsync QueryFirst QueryFirstAsync QuerySingle QueryFirstOrDefault"
            " QueryFirstOrDefaultAsync QuerySingleAsync Execute ExecuteAsync ExecuteScalar"
            " ExecuteScalarAsync QuerySingleOrDefaultAsync",
            r"(?:conn|connection|db|_db|database|cnn|_connection|_conn)\||\|\w*Connection$",
            needs="built",
        ),
        sink("shell", "Start", r"(?:^|\.)Process\|", ("*",)),
        sink("shell", "ProcessStartInfo", r"^new\|", (0, 1, "FileName", "Arguments")),
        sink("code", "EvaluateAsync RunAsync Create", r"CSharpScript\|"),
        sink(
            "path",
            "ReadAllText ReadAllBytes ReadAllLines WriteAllText WriteAllBytes Open OpenRead"
            " OpenWrite Delete Copy Move Create ReadAllTextAsync ReadAllBytesAsync"
            " AppendAllText OpenText WriteAllTextAsync",
            r"(?:^|\.)File\|",
        ),
        sink("path", "Delete GetFiles CreateDirectory EnumerateFiles", r"(?:^|\.)Directory\|"),
        sink("path", "FileStream StreamReader StreamWriter FileInfo", r"^new\|"),
        sink("path", "PhysicalFile", ""),
        sink(
            "ssrf",
            "GetAsync GetStringAsync PostAsync GetStreamAsync GetByteArrayAsync SendAsync"
            " PutAsync DeleteAsync GetFromJsonAsync",
            r"client|http|\|HttpClient$",
        ),
        sink("ssrf", "Create", r"(?:^|\.)(?:WebRequest|HttpWebRequest)\|"),
        sink("ssrf", "DownloadString DownloadData DownloadFile", ""),
        sink("ssrf", "HttpRequestMessage RestRequest RestClient", r"^new\|", ("*",)),
        sink("xss", "Raw", r"Html\|"),
        sink("xss", "HtmlString MarkupString", r"^new\||^\|"),
        sink("xss", "Content", r"^\||(?:^|\.)(?:this|Results|TypedResults)\|", needs="html"),
        sink("xss", "WriteAsync Write", r"Response\|", needs="html"),
        sink(
            "template",
            "Compile RunCompile CompileRenderStringAsync Parse",
            r"(?:Engine\.Razor|razor\w*|Template|engine)\|",
            needs="built request",
        ),
        sink(
            "deserialise",
            "Deserialize UnsafeDeserialize",
            r"BinaryFormatter|formatter|LosFormatter|SoapFormatter|NetDataContract"
            r"|\|(?:BinaryFormatter|SoapFormatter|LosFormatter|NetDataContractSerializer)$",
        ),
        sink(
            "deserialise",
            "DeserializeObject",
            r"JsonConvert\|",
            unless=r"(?s)\A(?!.*TypeNameHandling\.(?:All|Auto|Objects))",
        ),
        sink(
            "redirect",
            "Redirect RedirectPermanent",
            r"^\||(?:^|\.)(?:this|Response|Results|TypedResults|base)\|",
        ),
        sink(
            "xml",
            "LoadXml Load",
            r"xml|doc|\|XmlDocument$",
            unless=r"(?s)\A(?!.*new XmlUrlResolver)|DtdProcessing\.Prohibit|XmlResolver\s*=\s*null",
        ),
        sink("jwt", "ReadJwtToken ReadToken", "", unless=r"ValidateToken"),
    ),
    cleaners=(
        clean(
            "all",
            "Parse ToInt32 ToInt64 ToBoolean ToDouble ToGuid",
            r"(?:^|\.)(?:int|long|Guid|DateTime|bool|double|decimal|Convert|Enum|Int32|Int64"
            r"|DateTimeOffset)?\|",
        ),
        clean("path", "GetFileName GetFileNameWithoutExtension"),
        clean("xss", "HtmlEncode Encode Sanitize HtmlAttributeEncode JavaScriptStringEncode"),
        clean("ssrf redirect path xss", "UrlEncode EscapeDataString UrlPathEncode"),
        clean("sql", "QuoteIdentifier EscapeSqlIdentifier"),
        clean("redirect", "LocalRedirect Action Page RouteUrl"),
        clean("sql", "FromSqlInterpolated ExecuteSqlInterpolated"),
    ),
    assigned={"CommandText": "sql", "InnerHtml": "xss"},
    parameter_marks=regex(r"(?:FromQuery|FromBody|FromRoute|FromForm|FromHeader|BindProperty)\b"),
    entry_marks=regex(
        r"Http(?:Get|Post|Put|Delete|Patch|Head)\b|AcceptVerbs|Route\(|McpServerTool|KernelFunction"
    ),
    given=regex(
        r"CancellationToken|HttpContext|HttpRequest$|I[A-Z]\w+|DbContext|ClaimsPrincipal|Service$|Options$"
    ),
    numbers=frozenset(
        {
            "int",
            "long",
            "guid",
            "bool",
            "datetime",
            "double",
            "decimal",
            "float",
            "short",
            "datetimeoffset",
            "uint",
            "timespan",
            "byte",
            "guid[]",
            "int[]",
            "iformfile",
        }
    ),
    matters=regex(
        r"Command|Sql|Query|Execute|Process|File|Directory|Stream|Http|Client|Html|Content"
        r"|Redirect|Deserial|Write|Xml|Token|Script|Compile"
    ),
)
