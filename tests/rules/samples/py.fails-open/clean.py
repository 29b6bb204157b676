def allowed(token):
    try:
        return verify_token(token)
    except Exception:
        return False


def exists(path):
    try:
        open(path)
    except OSError:
        return True
