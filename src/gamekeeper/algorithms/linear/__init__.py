"""How small and how large hidden numbers can be, given limits of whole-numbered sums of them, with proofs.

Begin with `facts`, which is what is known; `search` asks for single numbers, `component_search` does
the work. Tables of counts come as facts from `releases.constraints`.
"""
