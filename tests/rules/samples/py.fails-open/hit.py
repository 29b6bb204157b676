def allowed(token):
    try:
        return verify_token(token)
    except Exception:  # HIT[medium]
        return True


def other(user):
    try:
        user.authenticate()
    except:  # HIT[low]
        pass


def is_allowed(user):
    try:
        return look_up(user)
    except Exception:  # HIT
        return True
