from django.http import HttpResponse

from blog.models import Post


def search(request):
    term = request.GET["q"]
    posts = Post.objects.extra(where=["title LIKE %s"], params=[f"%{term}%"])
    return HttpResponse(len(posts))
