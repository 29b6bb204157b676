from flask import request
from lxml import etree

from app.parsers import make_parser


def upload():
    return etree.fromstring(request.data, make_parser())  # HIT[medium]


def plain():
    return etree.fromstring(request.data, etree.XMLParser())  # HIT[high]
