import jwt


def read(token, key):
    jwt.decode(token, key, algorithms=["HS256"])
    return jwt.decode(token, key, algorithms=["RS256"], options={"verify_aud": False})


def by_key_id(token, keys):
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=["RS256"])
