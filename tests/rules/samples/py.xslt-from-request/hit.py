from flask import request
from lxml import etree


def view(tree):
    sheet = etree.XML(request.args["xslt"])
    tree.xslt(sheet)  # HIT[high]
    return etree.XSLT(sheet)  # HIT
