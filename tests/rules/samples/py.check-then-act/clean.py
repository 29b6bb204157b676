from django.db.models import F
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from flask import Flask, abort, request, session

from shop.db import get_db
from shop.models import Voucher

app = Flask(__name__)


@app.post("/transfer")
def transfer():
    amount = int(request.form["amount"])
    done = get_db().execute(
        "UPDATE users SET balance = balance - ? WHERE id = ? AND balance >= ?",
        (amount, session["user"], amount),
    )
    if done.rowcount < 1:
        abort(409)
    return "sent"


def redeem(request):
    voucher = get_object_or_404(Voucher, code=request.POST["code"])
    if voucher.remaining < 1:
        return JsonResponse({"error": "used"}, status=409)
    Voucher.objects.filter(pk=voucher.pk, remaining__gte=1).update(remaining=F("remaining") - 1)
    return JsonResponse({"value": voucher.value})


def count(request):
    voucher = get_object_or_404(Voucher, code=request.POST["code"])
    voucher.remaining += 1
    voucher.save()
    return JsonResponse({})


def helper(voucher, amount):
    if voucher.remaining < amount:
        return
    voucher.remaining -= amount
