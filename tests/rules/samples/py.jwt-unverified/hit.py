import jwt


def read(token, key):
    jwt.decode(token, key, options={"verify_signature": False})  # HIT[high]
    jwt.decode(token, verify=False)  # HIT
    jwt.decode(token, key, algorithms=["none"])  # HIT


def who(token):
    from jose import jwt as other

    return other.get_unverified_claims(token)["sub"]  # HIT


def by_its_own_word(token, key):
    named = jwt.get_unverified_header(token)["alg"]
    return jwt.decode(token, key, algorithms=[named])  # HIT
