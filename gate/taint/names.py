"""Names of calls that mean the same in every language: what hands a text on, what only asks about it."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex


def words(text: str) -> frozenset[str]:
    """Names with blanks between them, in lower case."""
    return frozenset(text.lower().split())


def spelled(text: str) -> frozenset[str]:
    """Names with blanks between them, as they are written."""
    return frozenset(text.split())


HANDS_ON: Final = words(
    "fromslash toslash pathinfo"
    " trim trimstart trimend trimspace trimprefix trimsuffix strip lstrip rstrip chomp"
    " chop tolower toupper tolowercase"
    " touppercase lowercase uppercase downcase upcase capitalize ucfirst lcfirst"
    " strtolower strtoupper replace"
    " replaceall str_replace preg_replace gsub sub substring substr slice split explode implode join concat"
    " decodeuricomponent unescape urldecode rawurldecode queryunescape pathunescape base64_decode decode64"
    " string str strval to_s tostring valueof stringvalue format sprintf sprint sprintln vsprintf printf"
    " getbytes bytes bytearray byte rune from tobytes encode decode jsonencode"
    " json_encode json_decode stringify parse"
    " unmarshal marshal atob btoa buffer array list map filter values keys entries"
    " flat reverse sort sorted unique"
    " first last at pop shift get getordefault getorelse orelse orelseget orelsethrow ofnullable of fetch dig"
    " to_h to_hash to_a tolist toarray todictionary symbolize_keys"
    " with_indifferent_access merge assign array_merge"
    " append push unshift add concatenation stringbuilder stringbuffer builder repeat"
    " str_repeat padstart padend"
    " normalize normalise clean resolve file_join path_join uri url parse_url new"
    " urldecoder path paths file fileinfo torealpath getabsolutepath getabsolutefile"
    " expand_path realpath abs absolutepath toabsolutepath getcanonicalpath"
    " getcanonicalfile urlsearchparams gethost getauthority hostname host getorigin topath tofile"
    " touri tourl let also"
    " run apply with tap then await unwrap force nullif coalesce ifempty or presence"
    " try to_str html_entity_decode"
    " htmlspecialchars_decode stripslashes nl2br wordwrap strrev newreader newstringreader newbufferstring"
    " stringreader inputsource readall reader open_struct query searchparams tee only"
    " except all slice permit require"
    " each_with_object collect select reject compact flatten array_filter"
    " array_values array_map current reset end"
    " combine getfullpath getpath rel relative relativize joinpath fromjson readvalue"
    " tojson readtree deserialize"
)
"""What comes out has the text of what goes in. ``parse`` and the like give it in pieces."""
DECODES: Final = words(
    "decodeuricomponent decodeuri urldecode rawurldecode queryunescape pathunescape unescapestring"
    " html_entity_decode htmlspecialchars_decode unescapedatastring uri_decode"
)
"""What comes out may hold signs that were not seen in what goes in."""
ENDS: Final = words(
    "die exit abort fatal fatalf fatalln panic notfound abort_if_not halt usage todo error_exit"
)
"""What never comes back."""
TELLS_LITTLE: Final = words(
    "length size count len strlen indexof lastindexof strpos stripos mb_strlen"
    " isempty empty blank? present? nil? isset"
    " includes contains has include? member? in_array startswith endswith start_with?"
    " end_with? str_starts_with test"
    " matches match? preg_match exists existssync isfile isdirectory stat statsync"
    " hash sha1 sha256 md5 digest"
    " createhash hexdigest digestof hashcode compare compareto equals"
    " equalsignorecase eql? typeof is_numeric is_string"
    " is_array ctype_digit isnan isinteger is_a? kind_of? instanceof hasprefix"
    " hassuffix equalfold ord charcodeat"
    " hmac crypt bcrypt password_hash password_verify sizeof any some every none now"
    " time rand random uuid randomuuid"
    " newguid uniqid localecompare regexmatch array_key_exists key_exists containskey"
    " hasownproperty count_chars log"
    " error warn info debug print println console write status setheader sleep settimeout"
)
"""What comes out is a number, an answer, a digest: no text of what goes in."""
NUMBERS: Final = words(
    "itoa formatint formatuint parseint parsefloat number atoi parseuint parsebool intval floatval to_i to_f"
    " to_r parselong parsedouble toint"
    " toint32 toint64 tolong tointornull tolongornull todouble isnan boolval"
    " toboolean integer float date bigint"
    " parseunsignedint round floor ceil abs_number fromstring objectid toenum"
    " parse_enum boolean bool filter_var_int"
    " tryparse uuid_parse parseexact settype mktime strtotime getint getlong intvalue longvalue"
)
LOOKUP: Final = regex(
    r"(?:find|get|load|fetch|query|search|select|create|save|update|insert|delete"
    r"|remove|destroy|store|count|exists"
    r"|has|is|list|lookup|read|exec|execute|authenticate|login|verify|auth|can|should"
    r"|will|check|validate|send|publish"
    r"|notify|dispatch|emit|log|render|redirect|set|add|register|upload|download|use"
    r"|on|require|import|where|all|first"
    r"|by|with|call|run|start|stop|open|close|write|compute|calculate|hash|encrypt"
    r"|decrypt|sign|generate|make|cache"
    r"|t|trans|translate|i18n|new|build|init|handle|process|post|put|patch|head"
    r"|request|index|show|edit)(?:[A-Z_0-9]|\Z)"
)
"""Verbs of functions that look something up, or act: what they give is not the text that they were given."""
ESCAPES: Final = regex(
    r"(?<!un)escap|(?<!un)quote|sanit|purif|clean|encode|slugif|parameteri[sz]e"
    r"|strip_?tags|whitelist|allow(?:ed|list)"
    r"|safe|normali[sz]e_?(?:sort|order|column|field|name)|to_?snake|camel|kebab|mask"
    r"|placeholder|hash|valid(?!.*header)",
    re.IGNORECASE,
)
"""Names of functions that are said to make a text harmless."""
VALIDATES: Final = regex(
    r"(?<!in)valid|same_?(?:site|origin|host)|is_?(?:relative|internal_?(?:url|link))"
    r"|(?<!dis)allow|(?<!un)safe|permit|(?<!un)trusted|white_?list|accept|(?:^|_)check"
    r"|(?:^|_)verif"
    r"|(?:^|_)assert|ensure|authori[sz]e|known|supported|within|inside|isin|is_?(?:in"
    r"|sub|child|under)|belongs|match"
    r"|legal|guard|sanit|secure|^is_?(?:number|int|uuid|url|alpha|email|local|relative"
    r"|mongo|ip|word|slug|ident)",
    re.IGNORECASE,
)
"""Names of functions that answer whether a value may be used."""
REFUSES: Final = regex(
    r"invalid|unsafe|malicious|denied|block|forbid|disallow|untrusted|illegal"
    r"|suspicious|attack|traversal|escapes"
    r"|outside|is_?private|is_?internal|reserved|dangerous|black_?list|deny|reject"
    r"|unknown|unsupported|injection",
    re.IGNORECASE,
)
"""Those that answer whether it may not."""
MEMBERS: Final = words(
    "includes has contains include? member? in_array array_key_exists isset"
    " hasownproperty containskey indexof key?"
    " has_key? exists contain array_search search_in haskey exist? inarray has_value?"
    " containsvalue cover? hasown"
    " oneof isoneof intersect strpos stripos anymatch strcontains isdefined get trygetvalue"
)
BEGINS: Final = words("startswith hasprefix start_with? str_starts_with starts_with strncmp startswith_any")
MATCHES: Final = words(
    "test matches match match? matchstring preg_match ismatch regexmatch regexp exec matchesregex"
)
EACH: Final = words(
    "map foreach each flatmap filter then some every find reduce select collect let"
    " also run apply use each_with_index"
    " array_map array_walk array_filter map! inject where selectmany mapto pipe tap"
    " subscribe finally sort sort_by"
    " findindex any? all? reject partition group_by flat_map each_pair"
    " each_with_object ifpresent foreachordered with"
    " mapnotnull associatewith takeif ifpresentorelse peek mapasync all any single"
    " first firstordefault aggregate"
)
"""What they are given is called with the items of what they belong to."""
MAKES: Final = words(
    "map flatmap collect array_map flat_map select selectmany mapnotnull map! mapto mapindexed then let run"
)
"""What they give is what the function gives."""
ROUTES: Final = words(
    "get post put patch delete all use any head options route match handle handlefunc"
    " map mapget mappost on ws"
)
"""Verbs with which a function is put at an address."""
CHANGES: Final = words(
    "append push add unshift addall put set concat insert write writestring"
    " appendline appendformat extend << set_item"
    " append_line writeln print printf extend! merge! addproperty writebyte"
)
"""What they are given becomes part of what they belong to."""
ADDRESSES: Final = frozenset({"URI.create", "Paths.get", "Path.of", "Uri.parse", "Uri.Parse", "URI.parse"})
STANDARD: Final = spelled("""
    String StringBuilder StringBuffer object Object Integer Long Boolean Double Number Character Pattern
    Matcher List ArrayList Map HashMap Set HashSet Optional Stream Collection Iterable Collectors Arrays
    Collections Objects Path Paths Files File URI URL Uri Instant Duration Regex Dictionary IEnumerable Array
    Hash Buffer Date JSON Math Promise Response Request Process Thread System Console Convert Encoding Base64
    Dir FileUtils Pathname Kernel Str Arr Carbon DateTime Closure Any Record Url Charset Locale
""")
"""Types that languages bring: what their methods do is known by the names."""
OTHERS: Final = ("java.", "javax.", "jakarta.", "kotlin.", "org.springframework.", "org.apache.",
   "com.google.",               "Illuminate.", "Symfony.", "Psr.", "System.", "Microsoft.")  # fmt: skip
"""Beginnings of packages that are no project's own."""
OWN_KIND: Final = regex(r"(?:Store|Service|Repository|Repo|Manager|Dao|Controller|Handler|Client|Model)\Z")
"""Types whose methods are the program's own, whatever they are called."""
