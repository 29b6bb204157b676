import logging

from flask import Flask, request

app = Flask(__name__)
logger = logging.getLogger(__name__)


@app.route("/a")
def a():
    name = request.args.get("name")
    app.logger.info("name %s", name)  # HIT[medium]
    logging.warning("name " + name)  # HIT
    logger.error(f"name {name}")  # HIT
