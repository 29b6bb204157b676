from sqlalchemy import select, text


def filtered(model, name):
    return select(model).where(text("name = :name").bindparams(name=name))


class Store:
    def _all(self, query, *values):
        return self.connection.execute(query, values).fetchall()

    def named(self, name):
        return self._all("SELECT * FROM people WHERE name = ?", name)
