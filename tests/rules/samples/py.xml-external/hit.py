import xml.etree.ElementTree as ET

import lxml.etree
from flask import request
from lxml import etree


def view():
    ET.fromstring(request.data)  # HIT[medium]
    lxml.etree.fromstring(request.form["xml"])  # HIT
    parser = etree.XMLParser(resolve_entities=True)  # HIT
    return etree.fromstring("<a/>", parser)


def read(path):
    parser = etree.XMLParser()
    return etree.parse(path, parser)  # HIT
