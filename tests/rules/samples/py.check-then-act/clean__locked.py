from django.db import transaction
from django.http import JsonResponse

from shop.models import Voucher


@transaction.atomic
def redeem(request):
    voucher = Voucher.objects.select_for_update().get(code=request.POST["code"])
    if voucher.remaining < 1:
        return JsonResponse({"error": "used"}, status=409)
    voucher.remaining -= 1
    voucher.save()
    return JsonResponse({"value": voucher.value})
