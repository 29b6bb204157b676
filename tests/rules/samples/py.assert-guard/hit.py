def delete(user):
    assert user.is_admin, "no"  # HIT[medium]
    assert user.has_perm("delete")  # HIT
