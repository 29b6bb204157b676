from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from .models import Account, Membership


@require_POST
@login_required
@transaction.atomic
def change_role(request, team_id, user_id):
    member = get_object_or_404(Membership, team_id=team_id, user_id=user_id)
    member.role = request.POST["role"]  # HIT[high]
    member.save(update_fields=["role"])
    return JsonResponse({})


@login_required
def remove(request, team_id, user_id):
    member = Membership.objects.get(team_id=team_id, user_id=user_id)
    member.delete()  # HIT[high]
    return JsonResponse({})


@login_required
def promote(request, pk):
    Account.objects.filter(pk=pk).update(is_admin=True)  # HIT[high]
    return JsonResponse({})
