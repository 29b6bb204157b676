from django.views.decorators.csrf import csrf_protect


@csrf_protect
def pay(request):
    return None


WTF_CSRF_ENABLED = True
