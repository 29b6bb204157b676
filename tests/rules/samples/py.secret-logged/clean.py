import logging

logger = logging.getLogger(__name__)


def login(user, password):
    logging.info("login %s with a password of %d letters", user, len(password))
    logger.debug("password changed for %s", user)
    print("password:", end="")
    print(bool(password))
    logger.info("set %s", mask(password))


def tokenize(token):
    print(token)
    logger.debug("next %s", token)


def secrets_found(secrets, password_field):
    logger.info("%d in %s", len(secrets), password_field)
