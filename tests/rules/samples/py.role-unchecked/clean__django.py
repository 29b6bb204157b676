from django.contrib.auth.decorators import login_required, permission_required
from django.http import JsonResponse
from django.shortcuts import get_object_or_404

from .models import Account, Membership, Note
from .views import membership_required


@membership_required("owner")
def change_role(request, team_id, user_id):
    member = get_object_or_404(Membership, team_id=team_id, user_id=user_id)
    member.role = request.POST["role"]
    member.save(update_fields=["role"])
    return JsonResponse({})


@login_required
def remove(request, team_id, user_id):
    mine = get_object_or_404(Membership, team_id=team_id, user=request.user)
    if mine.role != "owner":
        return JsonResponse({}, status=403)
    Membership.objects.get(team_id=team_id, user_id=user_id).delete()
    return JsonResponse({})


@login_required
@permission_required("accounts.change")
def promote(request, pk):
    Account.objects.filter(pk=pk).update(is_admin=True)
    return JsonResponse({})


@login_required
def rename(request, pk):
    note = get_object_or_404(Note, pk=pk)
    note.title = request.POST["title"]
    note.save()
    return JsonResponse({})
