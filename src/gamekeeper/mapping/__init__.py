"""Stage one: which variables, at which level of detail, could an intruder match on?"""
