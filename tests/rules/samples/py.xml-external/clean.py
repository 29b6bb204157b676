import xml.etree.ElementTree as ET

import defusedxml.ElementTree
from flask import request
from lxml import etree


def view():
    defusedxml.ElementTree.fromstring(request.data)
    parser = etree.XMLParser(resolve_entities=False)
    return etree.fromstring(request.data, parser)


def read(path):
    etree.parse(path)
    return ET.parse("config.xml")
