from django.http import HttpResponse


def page(request, name):
    with open("/data/" + name) as file:  # HIT
        return HttpResponse(file.read())
