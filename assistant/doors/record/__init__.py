"""The record as people read it: the list of events, the story of one action, and that story on paper."""
