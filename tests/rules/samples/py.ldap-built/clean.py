import ldap
from ldap.filter import escape_filter_chars


def find(conn, name):
    conn.search_s("dc=example", ldap.SCOPE_SUBTREE, "(uid=admin)")
    return conn.search_s("dc=example", ldap.SCOPE_SUBTREE, f"(uid={escape_filter_chars(name)})")
