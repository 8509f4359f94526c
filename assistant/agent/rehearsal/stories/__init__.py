"""The stories: for each intent, what to do next with what is known so far.

A story is asked again after each result. It finds this turn's results in the situation, and so knows how far
it is.
"""
