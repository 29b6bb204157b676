import logging

from flask import request

logger = logging.getLogger(__name__)


def a(name):
    value = request.args.get("name")
    logger.info("name %r", value)
    logger.info("name %s", value.replace("\n", ""))
    logger.info(f"name {value!r}")
    logger.info("name %s", name)
    logger.info("port %d", int(request.args["port"]))
