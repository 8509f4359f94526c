"""Icons from the page's own sprite (templates/parts/icons.html)."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, size: int = 16, look: str = "") -> SafeString:
    """One drawing, `size` pixels square; decoration for screen readers, so words stand beside it."""
    return format_html(
        '<svg class="icon{}" width="{}" height="{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" {look}" if look else "",
        size,
        size,
        name,
    )
