from flask import request


def find(cursor, name, conn, session):
    cursor.execute(f"SELECT * FROM users WHERE name = '{name}'")  # HIT[medium]
    query = "SELECT * FROM users WHERE name = '%s'" % name
    cursor.execute(query)  # HIT[medium]
    conn.execute("DELETE FROM users WHERE id = " + name)  # HIT[medium]
    sql = "SELECT * FROM t WHERE a = 1"
    sql += " AND b = '" + name + "'"
    session.execute(sql)  # HIT[medium]
    cursor.executemany("UPDATE t SET a = '{}'".format(name), [])  # HIT[medium]


def view(cursor):
    cursor.execute("SELECT * FROM t WHERE a = '" + request.args["a"] + "'")  # HIT[high]


async def orders(pool, number):
    return await pool.fetch(f"SELECT * FROM orders WHERE user_id = {number}")  # HIT[medium]
