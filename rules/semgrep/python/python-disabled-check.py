# ruleid: python-disabled-check
# TODO: add authentication
# ruleid: python-disabled-check
# FIXME: re-enable auth before release
# ruleid: python-disabled-check
# HACK: signature verification disabled
# ok: python-disabled-check
# TODO: add tests
# ok: python-disabled-check
# Authentication happens in the middleware.
