import jwt


def _options():
    return {"verify_signature": False, "require": ["exp"]}  # HIT[medium]


def claims(token, key):
    return jwt.decode(token, key, algorithms=["HS256"], options=_options())
