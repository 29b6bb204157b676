from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from flask import Flask, abort, request, session

from shop.db import get_db
from shop.models import Account, Voucher

app = Flask(__name__)


@app.post("/transfer")
def transfer():
    amount = int(request.form["amount"])
    db = get_db()
    row = db.execute("SELECT balance FROM users WHERE id = ?", (session["user"],)).fetchone()
    if row["balance"] < amount:
        abort(409)
    db.execute("UPDATE users SET balance = ? WHERE id = ?", (row["balance"] - amount, session["user"]))  # HIT
    return "sent"


def redeem(request):
    voucher = get_object_or_404(Voucher, code=request.POST["code"])
    if voucher.remaining < 1:
        return JsonResponse({"error": "used"}, status=409)
    voucher.remaining -= 1  # HIT
    voucher.save()
    return JsonResponse({"value": voucher.value})


def pay(request, pk):
    account = Account.objects.get(pk=pk)
    price = int(request.POST["price"])
    if price <= account.balance:
        account.balance = account.balance - price  # HIT
        account.save()
    return JsonResponse({"left": account.balance})
