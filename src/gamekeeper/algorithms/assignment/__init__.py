"""One-to-one links of least total cost, and how sure each is (paper 003). Begin with `dense`."""
