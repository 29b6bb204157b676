def delete(user):
    assert user.name
    assert isinstance(user, User)
    if not user.is_admin:
        raise PermissionError
