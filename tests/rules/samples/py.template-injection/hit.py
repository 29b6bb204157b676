import jinja2
from flask import render_template_string, request


def view():
    name = request.args.get("name")
    return render_template_string(f"<p>Hello {name}</p>")  # HIT[high]


def page(title):
    return jinja2.Template("<h1>" + title + "</h1>").render()  # HIT[medium]
