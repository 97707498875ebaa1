"""The loop: candidates are proposed for targets, done, attacked again, and laid out on a map.

`candidate` is one of them, `proposing` says which to try, `trials` tries them, `plan` is what came
out, `risk_utility_map` shows all of them with the frontier. Begin with `trials`.
"""
