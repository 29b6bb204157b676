from flask import request
from lxml import etree


def find(root, name, password):
    root.xpath(f"//user[name='{name}' and password='{password}']")  # HIT[medium]
    query = "//user[name='" + name + "']/text()"
    return root.xpath(query)  # HIT[medium]


def view(root):
    return root.xpath("/a[@id='%s']" % request.args.get("id"))  # HIT[high]
