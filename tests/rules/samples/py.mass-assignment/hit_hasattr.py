from flask import request


def update(user):
    for field, value in request.get_json().items():
        if not hasattr(user, field):
            raise ValueError(field)
        setattr(user, field, value)  # HIT[medium]


def default_for(address):
    setattr(address, f"is_{request.form['action']}", True)  # HIT[medium]
    address.save()
