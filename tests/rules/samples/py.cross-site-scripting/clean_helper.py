from django.http import HttpResponse
from django.template import loader


def replace(request, target_id, template_name, context):
    content = loader.render_to_string(template_name, context, request)
    return HttpResponse(f'<turbo-stream target="{target_id}"><template>{content}</template></turbo-stream>')
