"""The demonstration companies: a named cast whose dates are shifted so that its frozen day is today.

`seed.json` is the cast; each module loads one kind of record from it through the same actions that people use, and
leaves alone what is there. A new kind is a module with `load(world, seed)` and a line in loading.LOADERS.
"""
