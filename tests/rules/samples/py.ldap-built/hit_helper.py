import ldap3


class Directory:
    def _search(self, query):
        self.connection.search("dc=a", query)
        return self.connection.entries

    def find(self, name):
        return self._search(f"(cn={name})")  # HIT[medium]

    def everybody(self):
        return self._search("(cn=*)")
