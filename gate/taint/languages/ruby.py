"""Ruby: Rails, Sinatra, Grape; ActiveRecord, processes, files, clients."""

from __future__ import annotations

from typing import Final

from gate.regex import regex
from gate.taint.language import Language, clean, sink, source

RUBY: Final = Language(
    name="ruby",
    suffixes=(".rb", ".rake"),
    grammar="tree_sitter_ruby",
    reads=(
        source(
            "params headers referer user_agent query_string raw_post body env fullpath"
            " original_url url host query_parameters request_parameters path_parameters GET"
            " POST",
            r"(?:^|\.)(?:request|req)\|",
        ),
    ),
    calls=(),
    fills=(),
    names={"params": "request", "cookies": "request", "ARGV": "input"},
    sinks=(
        sink(
            "sql",
            "where find_by_sql order having group joins from select pluck exists? delete_by"
            " destroy_by reorder update_all not or find_by having lock calculate sum count"
            " rewhere",
            r"",
            needs="built",
        ),
        sink(
            "sql",
            "find_by_sql execute exec_query select_all select_value select_values select_rows"
            " select_one count_by_sql exec_update exec_delete",
            r"|",
        ),
        sink("sql", "sql", r"Arel\|"),
        sink("sql", "order reorder pluck", r"(?!)"),
        sink("shell", "system exec spawn ` popen IO.popen", r"^\||(?:^|\.)(?:Kernel|Process|IO)\|"),
        sink("shell", "capture2 capture2e capture3 popen2 popen3 popen2e pipeline", r"Open3\|"),
        sink("shell", "open", r"^\||Kernel\|"),
        sink("code", "eval instance_eval class_eval module_eval", ""),
        sink("code", "constantize safe_constantize", "(?!)", (-1,)),
        sink("code", "send public_send __send__", "", (0,), plain=True),
        sink(
            "path",
            "read open write readlines delete binread foreach new unlink binwrite rm rm_rf"
            " remove entries glob children",
            r"(?:^|\.)(?:File|IO|Dir|FileUtils|Pathname)\|",
        ),
        sink("path", "File Pathname", r"^new\|"),
        sink("path", "send_file", ""),
        sink("path", "render", r"^\|", ("file",)),
        sink("ssrf", "get get_response post start post_form", r"Net\.?:*HTTP|HTTP\|"),
        sink(
            "ssrf",
            "get post put patch delete head execute",
            r"(?:^|\.)(?:HTTParty|RestClient|Faraday|HTTP|Excon|Typhoeus|HTTPClient|conn|connection)\|",
        ),
        sink("ssrf", "open", r"(?:^|\.)(?:URI|OpenURI|URI\(\)|parse\(\))\|", (0, -1)),
        sink("xss", "html_safe", "", (-1,)),
        sink("xss", "raw safe_concat", r"^\||output_buffer"),
        sink("xss", "render", r"^\|", ("html", "inline"), needs="html built request"),
        sink("template", "render", r"^\|", ("inline",)),
        sink("template", "ERB Haml.Engine Slim.Template Liquid", r"^new\|"),
        sink("deserialise", "load restore", r"(?:^|\.)(?:Marshal|Oj)\|"),
        sink("deserialise", "load unsafe_load", r"(?:^|\.)(?:YAML|Psych)\|", unless=r"(?!)"),
        sink("redirect", "redirect_to redirect redirect_back_or_to", r"^\||(?:^|\.)this\|", unless=r"(?!)"),
        sink("jwt", "decode", r"JWT\|", unless=r"JWT\.decode\([^\n]*(?:true|algorithm)"),
        sink("mass", "permit!", "", (-1,)),
        sink("xml", "XML parse", r"(?:Nokogiri|LibXML)\b.*\|", given=r"(?!)"),
    ),
    cleaners=(
        clean(
            "all",
            "to_i to_f to_sym_safe Integer Float to_date to_time count size length hexdigest to_bool cast",
        ),
        clean(
            "sql",
            "sanitize_sql sanitize_sql_array sanitize_sql_for_conditions quote"
            " quote_column_name quote_table_name sanitize_sql_like sanitize_sql_for_order"
            " connection.quote",
        ),
        clean("shell", "shellescape escape shelljoin shellwords", r"Shellwords|^(?!CGI|ERB|URI|Regexp)"),
        clean("path", "basename sanitize_filename sanitized"),
        clean(
            "xss",
            "h html_escape escapeHTML sanitize strip_tags escape_once escape_html"
            " simple_format escape_javascript j json_escape",
        ),
        clean(
            "ssrf redirect path xss",
            "encode_www_form_component escape url_encode encode_www_form to_query to_param u",
            r"URI|CGI|ERB|^\|",
        ),
        clean("redirect", "url_for url_from root_path path_for polymorphic_path"),
        clean("deserialise", "safe_load"),
        clean("all", "permit_values presence_in"),
    ),
    assigned={},
    numbers=frozenset(),
    matters=regex(
        r"where|sql|order|system|exec|spawn|`|popen|Open3|eval|send|File|Dir|IO\."
        r"|send_file|HTTP|Faraday|RestClient|open|html_safe|raw|render|load|redirect"
        r"|decode|permit!|pluck|select|joins|group|having"
    ),
)
