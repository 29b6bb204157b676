"""Where data comes from that somebody else decides: names of sources, by framework and library.

Data only: ``flow.py`` follows values back to these names.
"""

from __future__ import annotations

from typing import Final

REQUEST: Final = "request"
"""Sent by a client of a web application: anybody."""
INPUT: Final = "input"
"""Typed by, or given on the command line by, whoever runs the program."""
NETWORK: Final = "network"
"""An answer or message of another machine."""
FILE: Final = "file"
"""Content of a file."""
ENVIRONMENT: Final = "environment"
"""An environment variable."""
PARAMETER: Final = "parameter"
"""A parameter of the function: whatever the caller passes."""
MODEL: Final = "model"
"""An answer of a language model, or an argument that one gives to a tool: whoever writes what it reads."""
OUTSIDERS: Final = frozenset({REQUEST, MODEL})
"""Kinds that anybody decides who can reach the program."""
REMOTE: Final = OUTSIDERS | {NETWORK}
"""Kinds that come from another machine."""

REQUEST_STEMS = (
    "flask.request", "quart.request", "bottle.request", "sanic.request", "flask_restful.request",
    "cgi.FieldStorage()", "fastapi.Request()", "starlette.requests.Request()",
    "django.http.HttpRequest()", "aiohttp.web.Request()", "flask.globals.request",
)  # fmt: skip
REQUEST_PARTS = frozenset({
    "args", "form", "values", "json", "data", "files", "headers", "cookies", "get_json", "get_data",
    "query_string", "GET", "POST", "COOKIES", "FILES", "META", "body", "query_params", "params",
    "query", "path_params", "match_info", "url", "full_path", "path", "rel_url", "stream", "referrer",
    "user_agent", "raw_post_data", "read", "post", "text",
})  # fmt: skip
REQUEST_METHODS = frozenset(
    {"get_argument", "get_arguments", "get_query_argument", "get_body_argument", "get_cookie"}
)
HANDLER_PARTS = frozenset({"path", "headers", "rfile", "requestline"})
GIVEN = frozenset({
    "request", "form", "obj", "instance", "user", "response", "queryset", "exception", "view", "view_func",
    "template", "template_name", "messages", "serializer", "context", "model",
})  # fmt: skip
"""Parameters of a view that the program's own code gives, not the address."""
INJECTED = frozenset({"Depends", "Security", "BackgroundTasks"})
CALL_SOURCES: dict[str, str] = {
    "input": INPUT,
    "raw_input": INPUT,
    "sys.stdin.read": INPUT,
    "sys.stdin.readline": INPUT,
    "os.getenv": ENVIRONMENT,
    "os.environ.get": ENVIRONMENT,
    "open().read": FILE,
    "open().readlines": FILE,
    "open().readline": FILE,
    "urllib.request.urlopen": NETWORK,
    "urllib.request.urlretrieve": NETWORK,
    "urllib.urlopen": NETWORK,
    "socket.socket().recv": NETWORK,
    "socket.socket().recvfrom": NETWORK,
    "socket.create_connection().recv": NETWORK,
    "http.client.HTTPSConnection().getresponse": NETWORK,
    "http.client.HTTPConnection().getresponse": NETWORK,
}
NETWORK_STEMS = ("requests.", "httpx.", "aiohttp.", "urllib3.")
MODEL_STEMS = (
    "openai.", "anthropic.", "litellm.", "ollama.", "groq.", "mistralai.", "cohere.", "together.",
    "google.generativeai.", "google.genai.", "vertexai.", "langchain", "llama_index.", "huggingface_hub.",
    "transformers.pipeline()", "instructor.", "replicate.",
)  # fmt: skip
"""Libraries that ask a language model."""
MODEL_VERBS = frozenset({
    "create", "completion", "acompletion", "chat", "generate", "invoke", "ainvoke", "predict", "run",
    "generate_content", "generate_content_async", "complete", "stream", "parse", "chat_completion",
    "text_generation", "text_completion", "pipeline()", "send_message",
})  # fmt: skip
TOOL_MARKS = frozenset({"tool", "function_tool", "tool_plain", "kernel_function", "ai_function"})
"""Decorators that let a language model call a function."""
TOOL_LIBRARIES = (
    "mcp", "fastmcp", "langchain", "langchain_core", "agents", "pydantic_ai", "smolagents",
    "semantic_kernel", "llama_index", "crewai", "autogen", "strands", "google.adk",
)  # fmt: skip
VERBS = frozenset({"get", "post", "put", "request", "patch", "delete", "urlopen", "send"})
HARMLESS_CALLS: Final = frozenset({
    "int", "float", "bool", "len", "hash", "id", "isinstance", "hasattr", "abs", "round", "ord", "any",
    "all", "sum", "uuid.UUID", "datetime.datetime.now", "datetime.date.today", "time.time",
    "get_object_or_404", "django.shortcuts.get_object_or_404", ".get_or_404", ".first_or_404",
    "os.path.exists", "os.path.isfile", "os.path.isdir", "type", "range", "issubclass", "callable",
})  # fmt: skip
"""Calls whose result carries no text of their arguments."""
NUMBERS = frozenset({"int", "float", "bool", "uuid.UUID", "datetime.datetime", "datetime.date"})
