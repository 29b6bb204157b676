import hmac


def verify_signature(text, key):
    return hmac.compare_digest(text, key)


def is_ready():
    return True


def is_authenticated(user):
    return False
