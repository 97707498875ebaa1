"""Stage one: which variables, at which level of detail, could an intruder match on?"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["edits"])
