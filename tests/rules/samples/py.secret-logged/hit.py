import logging

logger = logging.getLogger(__name__)


def login(user, password):
    logging.info("login %s with %s", user, password)  # HIT[medium]
    logger.debug(f"{user.api_key}")  # HIT
    print("card " + user.card_number)  # HIT[medium]


def auth(token):
    logger.debug("got {}".format(token))  # HIT


def view(request):
    logger.warning("bad %s", request.form["password"])  # HIT
    logger.warning("bad %s", request.form.get("password"))  # HIT
