"""Edits applied to an environment, which gives another environment.

The normal editor allows only what leaves every earlier categorization admitted, gives forms valid
categorizations and removes nothing that is in use. The unrestricted editor is for mending
mistakes; `weigh_edits` tells beforehand what it would break.
"""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.errors import InputError
from gamekeeper.mapping.edits.describing import describe_edit
from gamekeeper.mapping.edits.edit import Edit
from gamekeeper.mapping.edits.form_runs import apply_run, run_length
from gamekeeper.mapping.edits.kinds.bands import BandEdit, apply_band_edit
from gamekeeper.mapping.edits.kinds.categories import (
    CategoryEdit,
    RenameCategory,
    apply_category_edit,
)
from gamekeeper.mapping.edits.kinds.environment import apply_environment_edit
from gamekeeper.mapping.edits.kinds.forms import FormEdit, RenameForm, apply_form_edit
from gamekeeper.mapping.edits.kinds.groups import GroupEdit, RenameGroup, apply_group_edit
from gamekeeper.mapping.edits.kinds.kept_history import KeepHistory
from gamekeeper.mapping.edits.kinds.questions import QuestionEdit, apply_question_edit
from gamekeeper.mapping.edits.kinds.rules import RuleEdit, apply_rule_edit
from gamekeeper.mapping.edits.kinds.scenarios import ScenarioEdit, apply_scenario_edit
from gamekeeper.mapping.edits.kinds.variables import (
    RenameVariable,
    VariableEdit,
    apply_variable_edit,
)
from gamekeeper.mapping.edits.kinds.widening import WidenVariable, apply_widening
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.scenario.renaming import Renamed, follow_renames


def apply_edits(
    environment: Environment, edits: Sequence[Edit], *, unrestricted: bool = False
) -> Environment:
    """Return the environment after some edits, applied one after the other.

    Without restriction earlier categorizations may be lost.

    Raises
    ------
    InputError
        If an edit is refused, with everything that is wrong with it; then none counts.

    Examples
    --------
    >>> from gamekeeper.mapping.edits import AskVariable, SplitCategory
    >>> from gamekeeper.mapping.environment.environment import Form
    >>> from gamekeeper.mapping.variables.variable import Variable
    >>> from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
    >>> country = Variable("Country", PartitionGraph({"England": [], "Other": []}))
    >>> environment = Environment([country], [Form("Bank", {"Country": ["England", "Other"]})])
    >>> split = SplitCategory(variable="Country", category="Other", into=["Wales", "Elsewhere"])
    >>> apply_edits(environment, [split]).variable("Country").graph.sinks
    ('Elsewhere', 'England', 'Wales')
    >>> apply_edits(environment, [AskVariable(form="Bank", variable="Country", labels=["Other"])])
    Traceback (most recent call last):
    gamekeeper.errors.InputError: This edit was asked for: let the form 'Bank' ask for 'Country'
    in 1 category. It has 1 categorization that does not fit its variable. Select categories that
    reach every sink once; the unrestricted editor lets others pass.
      - form 'Bank', variable 'Country': misses 'England'; if the form does not ask these people,
        add the category "outside this form's universe". Change the labels.
    """
    number = 0
    one_by_one = 0
    while number < len(edits):
        length = run_length(edits, number)
        if length > 1 and number >= one_by_one:
            run = edits[number : number + length]
            environment, done = apply_run(environment, run, unrestricted=unrestricted)
            number += done
            if done == length:
                continue
            # The next has a fault; if none was made, the fault is between them.
            one_by_one = number + (1 if done else length)
        edit = edits[number]
        number += 1
        try:
            after = _applied(environment, edit, unrestricted=unrestricted)
            environment = follow_renames(environment, after, _renamed(edit))
        except InputError as error:
            words = describe_edit(edit)
            which = f"Edit {number} of {len(edits)}" if len(edits) > 1 else "This edit"
            raise InputError(
                error.reason,
                f"{which} was asked for: {words[0].lower()}{words[1:]}",
                error.found,
                error.do,
                problems=error.problems,
            ) from error
    return environment


def _renamed(edit: Edit) -> Renamed:
    """Return the names that an edit changes, which scenarios are to follow."""
    match edit:
        case RenameForm(form=old, to=new):
            return Renamed(forms={old: new})
        case RenameGroup(group=old, to=new):
            return Renamed(groups={old: new})
        case RenameVariable(variable=old, to=new):
            return Renamed(variables={old: new})
        case RenameCategory(variable=variable, category=old, to=new):
            return Renamed(categories={variable: {old: new}})
        case _:
            return Renamed()


def _applied(environment: Environment, edit: Edit, *, unrestricted: bool) -> Environment:
    if isinstance(edit, FormEdit):
        return apply_form_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, QuestionEdit):
        return apply_question_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, VariableEdit):
        return apply_variable_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, CategoryEdit):
        return apply_category_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, WidenVariable):
        return apply_widening(environment, edit)
    if isinstance(edit, BandEdit):
        return apply_band_edit(environment, edit, unrestricted=unrestricted)
    if isinstance(edit, GroupEdit):
        return apply_group_edit(environment, edit)
    if isinstance(edit, ScenarioEdit):
        return apply_scenario_edit(environment, edit)
    if isinstance(edit, RuleEdit):
        return apply_rule_edit(environment, edit)
    if isinstance(edit, KeepHistory):
        return environment
    return apply_environment_edit(environment, edit)
