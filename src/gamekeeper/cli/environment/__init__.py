"""Commands on environments: stores, forms, variables, groups, scenarios, analyses, the shell."""
