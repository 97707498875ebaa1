"""Checks of whole analyses: a target against forms, at several prevalences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gamekeeper import Environment, Form, InputError, Variable, map_key_variables
from gamekeeper.errors import Reason
from gamekeeper.mapping import PartitionGraph, Universe
from gamekeeper.mapping.analysis.key_variables import KeyVariable
from tests.reference.cases import Case, ShapeError
from tests.reference.categorizations import sorted_blocks, written
from tests.reference.keeping import kept

__all__ = ["kvm_analysis", "kvm_target_in_environment", "kvm_universe"]

_ALL_MAXIMAL = 100_000


def kvm_analysis(case: Case) -> None:
    """Check a target that is none of the forms, at one prevalence or several."""
    target = _new_name("target", case.needs("forms"))
    environment = _environment(case, target, case.needs("target_form"))
    if case.defines("by_prevalence"):
        _check_all(case, "by_prevalence", environment, target)
    elif "prevalence" in case.given:
        found = _found(case, environment, target, case.given["prevalence"])
        for variable, wanted in case.expected.items():
            _check_variable(case, variable, "", wanted, found.get(variable), environment)
    else:
        raise ShapeError("neither is 'by_prevalence' expected nor a 'prevalence' given")


def kvm_target_in_environment(case: Case) -> None:
    """Check a target among the forms: left out of them, and matching itself through a twin."""
    target = case.needs("target_form_name")
    own = case.needs("forms")[target]
    if case.defines("excluding_target"):
        _check_all(case, "excluding_target", _environment(case, target, own), target)
    if case.defines("literal"):
        twin = _new_name(f"twin of {target}", case.needs("forms"))
        _check_all(case, "literal", _environment(case, twin, own), twin)


def kvm_universe(case: Case) -> None:
    """Check one variable within the universe of the target, and with everybody."""
    variable = Variable("X", PartitionGraph(case.needs("categories")))
    forms = [Form(name, {"X": labels}) for name, labels in case.needs("forms").items()]
    within = case.given.get("within")
    universe = None if within is None else Universe(within={"X": tuple(within)})
    target = _new_name("target", case.needs("forms"))
    forms.append(Form(target, {"X": case.needs("target")}, universe=universe))
    environment = kept(Environment([variable], forms))
    for field, within_universe in (("universe", True), ("everybody", False)):
        for prevalence, wanted in case.expected.get(field, {}).items():
            (found,) = map_key_variables(
                environment,
                target,
                prevalence=prevalence,
                most=_ALL_MAXIMAL,
                within_universe=within_universe,
            ).variables
            at = f"at {prevalence}"
            case.check(field, f"{at}: size", wanted["size"], found.n_categories)
            words = sorted(sorted(item.categories) for item in found.maximal)
            case.check(field, f"{at}: words", sorted(map(sorted, wanted["words"])), words)
            case.check(field, f"{at}: area", wanted["area"], str(found.area))
            if "restricted" in wanted:
                case.check(field, f"{at}: restricted", wanted["restricted"], list(found.restricted))


def _environment(case: Case, target: str, own: Any) -> Environment:
    """Return the environment of the forms to match against and the target, no others.

    Which harmonizations count as observed depends on the forms in it.
    """
    graphs = case.needs("partition_graphs")
    forms = {name: case.needs("forms")[name] for name in case.needs("environment")}
    forms[target] = own
    return kept(
        Environment(
            [
                Variable(
                    name, PartitionGraph.from_edges(graph["nodes"], map(tuple, graph["edges"]))
                )
                for name, graph in graphs.items()
            ],
            [Form(name, instances) for name, instances in forms.items()],
        )
    )


def _found(
    case: Case, environment: Environment, target: str, prevalence: str
) -> dict[str, KeyVariable]:
    forms = case.needs("environment")
    try:
        outcome = map_key_variables(
            environment,
            target,
            forms=forms,
            prevalence=prevalence,
            most=_ALL_MAXIMAL,
            within_universe=False,
        )
    except InputError as error:
        # Without any other form nothing can be matched, which the library says as an error.
        if error.reason is Reason.NOTHING_GIVEN:
            return {}
        raise
    return {item.variable: item for item in outcome.variables}


def _check_all(case: Case, field: str, environment: Environment, target: str) -> None:
    for prevalence, wanted in case.expected[field].items():
        found = _found(case, environment, target, prevalence)
        if found:
            case.check(field, f"at {prevalence}: variables", sorted(wanted), sorted(found))
        for variable, values in wanted.items():
            at = f"at {prevalence}: {variable}"
            _check_variable(case, field, at, values, found.get(variable), environment)


def _check_variable(
    case: Case, field: str, at: str, wanted: Any, item: KeyVariable | None, environment: Environment
) -> None:
    if wanted is None or item is None or not item.maximal:
        case.check(field, at, wanted, _shown(item))
        return
    if "N" in wanted:
        case.check(field, f"{at} N", wanted["N"], item.threshold)
    if "n_categories" in wanted:
        size = "arbitrary" if item.n_categories == math.inf else item.n_categories
        case.check(field, f"{at} n_categories", wanted["n_categories"], size)
    if "maximal" in wanted:
        sinks = environment.variable(item.variable).graph.sinks
        expected = {str(sorted_blocks(m["partition"])): m.get("letter") for m in wanted["maximal"]}
        found = {str(written(m.partition, sinks)): m.code[0] for m in item.maximal}
        case.check(field, f"{at} maximal", sorted(expected), sorted(found))
        for name, letter in expected.items():
            if letter is not None and name in found:
                case.check(field, f"{at} letter of {name}", letter, found[name])


def _shown(item: KeyVariable | None) -> object:
    if item is None or not (item.maximal or item.message):
        return None
    return item.message or {"N": item.threshold, "codes": list(item.codes)}


def _new_name(name: str, taken: Mapping[str, Any] | Sequence[str]) -> str:
    while name in taken:
        name += "'"
    return name
