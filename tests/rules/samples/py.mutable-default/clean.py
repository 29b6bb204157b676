def own(context, filters={}):
    filters = dict(filters)
    filters["org_id"] = context.org_id
    return filters


def read_only(context, filters={}):
    return select({**filters, "org_id": context.org_id})


def fibonacci(number, cache={}):
    if number not in cache:
        cache[number] = number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)
    return cache[number]


def remembered(number, _known={}):
    _known[number] = number
    return _known


def none(context, filters=None):
    filters = filters or {}
    filters["org_id"] = context.org_id
    return filters


def only_constants(filters={}):
    filters.setdefault("state", "open")
    return filters


def nothing(*args, key=(), **kwargs):
    kwargs["key"] = key
    return args


def broken(a, b=[], /, *, c={}):
    del b[:]
    c.pop(a, None)
