from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt  # HIT[medium]
def pay(request):
    return None


@method_decorator(csrf_exempt, name="dispatch")  # HIT
class View:
    pass


WTF_CSRF_ENABLED = False  # HIT


@csrf_exempt  # HIT[high]
@login_required
def change_address(request):
    request.user.email = request.POST["email"]
    request.user.save()


@method_decorator(csrf_exempt, name="dispatch")  # HIT[high]
class Change(LoginRequiredMixin, View):
    pass
