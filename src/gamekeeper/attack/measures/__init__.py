"""The measures that offices and their software know by name, each as its authors define it.

Begin with `measuring`; `per_record` and `population_uniques` have what goes into it.
"""
