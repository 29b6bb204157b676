import jinja2
from flask import render_template_string, request


def view():
    return render_template_string("<p>Hello {{ name }}</p>", name=request.args.get("name"))


def page(path):
    return jinja2.Template(open("page.html").read()).render(path=path)
