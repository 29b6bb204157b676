def find(cursor, name, ids, builder):
    cursor.execute("SELECT * FROM users WHERE name = ?", (name,))
    cursor.execute("SELECT * FROM users WHERE id IN (%s)" % ",".join("?" * len(ids)), ids)
    table = "users"
    cursor.execute(f"SELECT * FROM {table}")
    builder.execute(f"run {name}")
    cursor.execute("SELECT 1 " "FROM t")
    limit = int(name)
    cursor.execute(f"SELECT * FROM users LIMIT {limit}")
