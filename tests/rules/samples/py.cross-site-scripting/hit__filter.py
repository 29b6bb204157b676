import re

from django import template
from django.utils.safestring import mark_safe

register = template.Library()
MENTION = re.compile(r"@(\w+)")


@register.filter
def mentions(value):
    linked = MENTION.sub(r'<a href="/u/\1/">@\1</a>', value)
    return mark_safe(linked)  # HIT[high]


@register.filter(name="marked")
def highlight(text, word):
    return mark_safe(text.replace(word, f"<b>{word}</b>"))  # HIT[high]
