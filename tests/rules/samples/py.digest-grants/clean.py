import hashlib
import hmac

EXPECTED = "b1946ac92492d2347c6235b4d2611184f1e0c3ad5a8d0b2d6f1cde90b1a4d733"


def fetch(data):
    if hashlib.sha256(data).hexdigest() != EXPECTED:
        raise ValueError("the download differs")
    return data


def is_whole(data):
    if hashlib.sha256(data).hexdigest() == EXPECTED:
        return True
    return False


def login(user, password):
    if hmac.compare_digest(hashlib.sha256(password).hexdigest(), user.hash):
        return user
    return None


def avatar(email):
    digest = hashlib.md5(email.encode()).hexdigest()
    if digest == "":
        return None
    return digest


def refused(email):
    if hashlib.md5(email.encode()).hexdigest() in {"1f3870be274f6c49b3e31a0c6728957f"}:
        raise PermissionError(email)
    return None
