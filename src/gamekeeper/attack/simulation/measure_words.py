"""What the measures of a simulation mean, in words."""

from __future__ import annotations

import re

_WORDS = {
    "sample_uniques": "Sample uniques",
    "sample_pairs": "Records in sample pairs",
    "pr_pu": "Pr(PU), the share of the population that is population unique",
    "pr_pu_given_su": "Pr(PU|SU), the share of sample uniques that are population unique",
    "pr_cm_given_um": "Pr(CM|UM), the chance that a unique match is correct",
    "pr_cm_given_su": "Pr(CM|SU), the chance of a correct match for a sample unique at random",
    "dis": "DIS, the estimate of Pr(CM|UM) from the sample alone",
    "models_top10.pr_cm": "Models, the ten keys that rank first, probability of a correct match",
    "models_top10.cost_with": "Models, the ten keys that rank first, people searched on average",
    "models_mcmcmc1.pr_cm": "Models at the cost of Pr(CM|UM) (MCMCMC1), correct with probability",
    "models_mcmcmc1.cost_with": "Models (MCMCMC1), people searched on average",
    "models_mcmcmc2.pr_cm": "Models at the expected cost (MCMCMC2), correct with probability",
    "models_mcmcmc2.cost_with": "Models (MCMCMC2), people searched on average",
}
_PARTS = {
    "pr_cm": "probability of a correct match",
    "cost_without": "people searched on average, nobody twice",
    "cost_with": "people searched on average, anybody again",
    "eff_without": "probability per person searched, nobody twice",
    "eff_with": "probability per person searched, anybody again",
}
_SCORES = {
    "suda": "SUDA score (2002)",
    "is": "intermediate score (IS)",
    "dis_suda": "DIS-SUDA",
    "dis_is": "DIS-IS",
}
_CORRELATIONS = {
    "pearson": "Pearson correlation with 1/F over sample uniques",
    "spearman": "Spearman correlation with 1/F over sample uniques",
    "pearson_all": "Pearson correlation with 1/F over all records",
    "spearman_all": "Spearman correlation with 1/F over all records",
}
_STRATEGY = re.compile(r"strategy_(\d)(?:_r(\d+))?\.(\w+)")


def measure_words(name: str) -> str:
    """Return what a measure is, in words; its name where it is the user's own.

    Examples
    --------
    >>> measure_words("strategy_6_r3.pr_cm")
    'Strategy 6 with r = 3, probability of a correct match'
    """
    if name in _WORDS:
        return _WORDS[name]
    found = _STRATEGY.fullmatch(name)
    if found and found[3] in _PARTS:
        with_r = f" with r = {found[2]}" if found[2] else ""
        return f"Strategy {found[1]}{with_r}, {_PARTS[found[3]]}"
    score, _, part = name.partition(".")
    if score in _SCORES and part in _CORRELATIONS:
        return f"{_SCORES[score]}, {_CORRELATIONS[part]}"
    return name
