from flask import Flask, request
from lxml import etree

app = Flask(__name__)


@app.post("/orders")
def orders():
    parser = etree.XMLParser(resolve_entities="internal", no_network=True, huge_tree=False)
    return etree.fromstring(request.get_data(), parser).tag
