"""The rehearsal model: an OpenAI-compatible endpoint of our own, deterministic and offline.

It is no language model. It plays the part of one over the same wire protocol, for demonstrations and tests,
in English and Portuguese, and decides from the messages of each request alone. It needs neither Django nor
the network.
"""
