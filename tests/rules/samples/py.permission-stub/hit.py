def verify_token(token):  # HIT[medium]
    # TODO: implement
    return True


async def is_admin(user):  # HIT
    """Whether the user may do everything."""
    return True
