import smtplib


def a():
    s = smtplib.SMTP("host")
    # ruleid: python-smtp-login-plain
    s.login("u", p)


def b():
    s = smtplib.SMTP("host")
    s.starttls()
    # ok: python-smtp-login-plain
    s.login("u", p)
