def delete(user):
    # ruleid: python-assert-guard
    assert user.is_admin, "no"
    # ruleid: python-assert-guard
    assert user.has_perm("delete")
    # ok: python-assert-guard
    assert user.name
    # ok: python-assert-guard
    assert isinstance(user, User)
