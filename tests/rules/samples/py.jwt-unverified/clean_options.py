import jwt


def _options():
    return {"verify_signature": True, "require": ["exp"]}


def claims(token, key):
    return jwt.decode(token, key, algorithms=["HS256"], options=_options())
