from django.http import HttpResponse

from blog.models import Post


def search(request):
    term = request.GET["q"]
    posts = Post.objects.extra(where=[f"title LIKE '%%{term}%%'"])  # HIT[high]
    more = Post.objects.extra(select={"rank": "rank(" + term + ")"})  # HIT[high]
    return HttpResponse(len(posts) + len(more))
