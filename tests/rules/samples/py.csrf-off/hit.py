from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt  # HIT[medium]
def pay(request):
    return None


@method_decorator(csrf_exempt, name="dispatch")  # HIT
class View:
    pass


WTF_CSRF_ENABLED = False  # HIT
