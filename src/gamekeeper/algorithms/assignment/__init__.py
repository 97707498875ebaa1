"""One-to-one links of least total cost, and how sure each is (paper 003).

Begin with `dense`, then `sparse`, which also says how sure links are.
"""
