"""A template is made from text that somebody else controls.

Template languages run expressions: `{{ 7*7 }}` in a name is calculated, `{{ config }}` gives the
secrets, and from there it is a short way to running commands.

Keep the template constant and pass values as variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import INPUT, NETWORK, OUTSIDERS, PARAMETER

_SINKS = (
    "flask.render_template_string", "jinja2.Template", "jinja2.Environment().from_string",
    "mako.template.Template", "django.template.Template", "tornado.template.Template",
    "flask.templating.render_template_string", "jinja2.sandbox.SandboxedEnvironment().from_string",
    "bottle.template", "chevron.render", "Cheetah.Template.Template",
)  # fmt: skip


@rule(
    "py.template-injection",
    "Template is built from values",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(1336, 94),
    why="Expressions in the value are calculated by the template engine.",
    fix="Keep the template constant and pass values as its variables.",
)
def check(module: Module) -> Iterator[Hit]:
    """Templates from requests, and templates with values put into their text."""
    flow = Flow(module, frozenset({"html.escape", "markupsafe.escape", "flask.escape"}))
    for call, _ in module.calls(*_SINKS):
        source = module.arg(call, 0, "source", "template_string", "text")
        if source is None or module.text_of(source) is not None:
            continue
        if flow.kinds(source) & OUTSIDERS:
            yield Hit(
                node=call,
                message="Text that an outsider decides becomes part of a template.",
                severity=Severity.HIGH,
            )
        elif built_from(module, source) and flow.kinds(source) & {NETWORK, INPUT, PARAMETER}:
            yield Hit(node=call, message="A value becomes part of a template's text.")
