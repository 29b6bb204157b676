import ldap
from flask import request


def find(conn, name):
    return conn.search_s("dc=example", ldap.SCOPE_SUBTREE, "(uid=" + name + ")")  # HIT[medium]


def view(conn):
    user = request.form["user"]
    return conn.search_s(f"uid={user},dc=example", ldap.SCOPE_BASE, "(objectClass=*)")  # HIT[high]
