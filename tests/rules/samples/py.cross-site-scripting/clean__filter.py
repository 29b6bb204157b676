import re

from django import template
from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import mark_safe

register = template.Library()
MENTION = re.compile(r"@(\w+)")


@register.filter
def mentions(value):
    return mark_safe(MENTION.sub(r'<a href="/u/\1/">@\1</a>', escape(value)))


@register.filter
def badge(value):
    return format_html("<b>{}</b>", value)


@register.filter
def icon(value):
    return mark_safe("<i>yes</i>" if value else "<i>no</i>")


@register.filter(needs_autoescape=True)
def initial(text, autoescape=True):
    esc = conditional_escape if autoescape else str
    return mark_safe("<b>%s</b>" % esc(text[0]))


@register.simple_tag(takes_context=True)
def sort_url(context, sort):
    query = context["request"].GET.copy()
    query["sort"] = sort
    return mark_safe("?" + query.urlencode())
