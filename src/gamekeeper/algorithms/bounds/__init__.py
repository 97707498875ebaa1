"""How small and how large each hidden count can be, with proof, and what that says about people.

Begin with `integer_bounds`; `frechet` is the closed form, `shuttle` the way for many short axes.
"""
