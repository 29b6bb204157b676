from collections import defaultdict


class Repo:
    def search(self, context, state=None, filters: dict = {}):
        filters.setdefault("org_id", context.org_id)  # HIT
        return self.select(filters)

    def mine(self, filters={}):
        filters["owner"] = self.user.id  # HIT
        return self.select(filters)


def rows_of(user, *, rows=[]):
    for row in load(user):
        if row.owner == user:
            rows.append(user.name)  # HIT
    return rows


def grouped(user, by=defaultdict(list)):
    by[user.team] = by[user.team]  # HIT
    return by


async def allowed(tenant, names=set()):
    names.update(await fetch(tenant))  # HIT
    return names


def sent(request, headers=dict()):
    headers.update(Authorization=request.token)  # HIT
    return headers
