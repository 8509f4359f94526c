"""Rates and stretches of time on a page."""

from django import template

from assistant.insight import words

register = template.Library()
register.filter("rate", words.rate)
register.filter("lasted", words.lasted)
