"""The same attacks on a file before and after: who can be whom, links, uniques, models, policies.

`sides` lays people and released rows side by side, `attack` attacks, `judging` holds targets against
what was found. Begin with `attack`.
"""
