"""Variables, graphs and jobs on the wire.

Variables are listed, or come with definition, codes and forms; graphs of categories as they are, of
codes as the command line lays them out; of jobs there is what is asked of them, how far they are,
what they found.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.codes import code_order
from gamekeeper.mapping.variables.definitions import definition_tree
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.report.graphs import draw_harmonization_graph
from gamekeeper.web.jobs import Job
from gamekeeper.web.shapes.environment import Named, given_code, named
from gamekeeper.web.shapes.questions import FileAsked
from gamekeeper.web.wire import Refusal, filled, id_of


class VariableLine(BaseModel):
    """A variable in the list of all."""

    id: str
    name: str
    scale: str
    description: str
    n_categories: int
    n_sinks: int
    n_forms: int
    n_codes: int
    n_faults: int


class VariableList(BaseModel):
    """All variables."""

    revision: int
    variables: list[VariableLine]


def variable_list(environment: Environment, revision: int) -> VariableList:
    """Return all variables as their list shows them."""
    lines: list[VariableLine] = []
    for name, variable in environment.variables.items():
        instances = environment.instances(name)
        codes = {item.partition for item, _ in instances if item.partition is not None}
        lines.append(
            filled(
                VariableLine,
                variable,
                id=id_of(name),
                scale=variable.scale.value,
                n_categories=len(variable.graph.categories),
                n_sinks=len(variable.graph.sinks),
                n_forms=sum(len(forms) for _, forms in instances),
                n_codes=len(codes),
                n_faults=sum(len(forms) for item, forms in instances if not item.is_valid),
            )
        )
    return VariableList(revision=revision, variables=lines)


class ObservedCode(BaseModel):
    """A code that forms have, its categories in words, and how many forms have it."""

    code: str
    n_categories: int = Field(description="0 for any level of detail.")
    words: list[str]
    n_forms: int
    labels: list[list[str]] = Field(description="The selections on forms that come to it.")


class FaultyForm(BaseModel):
    """A form whose categorization is not valid, and why."""

    form: Named
    fault: str


class VariableShape(BaseModel):
    """A variable with all that is known of it."""

    id: str
    name: str
    revision: int
    scale: str
    description: str
    definition: dict[str, Any] = Field(description="As in a folder, and as edits carry it.")
    sensitive: list[str]
    codes: list[ObservedCode]
    faults: list[FaultyForm]


def variable_shape(environment: Environment, name: str, revision: int) -> VariableShape:
    """Return a variable as its page shows it."""
    variable = environment.variable(name)
    found: dict[str, ObservedCode] = {}
    faults: list[FaultyForm] = []
    for item, forms in environment.instances(name):
        if not forms:
            continue
        if item.partition is None:
            faults += [FaultyForm(form=named(form), fault=item.fault) for form in forms]
            continue
        code = given_code(environment, name, item.partition)
        if code is None:
            continue
        known = found.get(code)
        if known is None:
            known = found[code] = ObservedCode(
                code=code,
                n_categories=0
                if isinstance(item.partition, Arbitrary)
                else item.partition.n_blocks,
                words=list(variable.words(item.partition)),
                n_forms=0,
                labels=[],
            )
        known.n_forms += len(forms)
        known.labels.append(list(item.categories))
    return filled(
        VariableShape,
        variable,
        id=id_of(name),
        revision=revision,
        scale=variable.scale.value,
        definition=definition_tree(variable),
        sensitive=sorted(variable.sensitive),
        codes=sorted(found.values(), key=lambda each: code_order(each.code)),
        faults=faults,
    )


class CodeShape(BaseModel):
    """What a code means, and the forms that have it."""

    variable: Named
    code: str
    n_categories: int
    words: list[str]
    forms: list[Named]


def code_shape(environment: Environment, name: str, code: str) -> CodeShape:
    """Return a code of a variable: its categories in words and the forms that have it."""
    meant = environment.register(name).meaning(code)
    forms = [
        form
        for item, having in environment.instances(name)
        if item.partition == meant
        for form in having
    ]
    return CodeShape(
        variable=named(name),
        code=code,
        n_categories=0 if isinstance(meant, Arbitrary) else meant.n_blocks,
        words=list(environment.variable(name).words(meant)),
        forms=[named(form) for form in forms],
    )


class Box(BaseModel):
    """Where a node is: its centre, its size and its lines of text."""

    x: float
    y: float
    width: float
    height: float
    lines: list[str]


class Course(BaseModel):
    """An edge: from which node to which, its line as SVG path data, the corners of its head."""

    start: int
    end: int
    path: str
    head: str


class Category(BaseModel):
    """A category of a partition graph."""

    name: str
    children: list[str]
    n_sinks: int = Field(description="How many finest categories it has.")
    is_sink: bool


class GraphShape(BaseModel):
    """A partition graph: what is made of what. Pages place it themselves, for it changes as one draws."""

    sinks: list[str] = Field(description="The finest categories, in their order.")
    categories: list[Category]


def graph_shape(graph: PartitionGraph) -> GraphShape:
    """Return a partition graph."""
    return GraphShape(
        sinks=list(graph.sinks),
        categories=[
            Category(
                name=name,
                children=list(graph.children(name)),
                n_sinks=len(graph.sinks_of(name)),
                is_sink=not graph.children(name),
            )
            for name in graph.categories
        ],
    )


class CodeNode(BaseModel):
    """A code: observed on forms (an ellipse) or a harmonization (a rectangle)."""

    code: str
    box: Box
    is_observed: bool
    n_categories: int = Field(description="0 for any level of detail.")
    n_forms: int
    n_below: int = Field(description="Forms with this code or a finer one.")
    words: list[str] = Field(description="Its categories; of very many the first.")


class HarmonizationsShape(BaseModel):
    """The harmonization graph of a variable, laid out."""

    width: float
    height: float
    codes: list[CodeNode]
    edges: list[Course]


def harmonizations_shape(environment: Environment, variable: str) -> HarmonizationsShape:
    """Return the codes of a variable with their layout; a variable that no form has, has none."""
    counts: Counter[Partition | Arbitrary] = Counter()
    for item, forms in environment.instances(variable):
        if item.partition is not None and forms:
            counts[item.partition] += len(forms)
    if not counts:
        return HarmonizationsShape(width=0, height=0, codes=[], edges=[])
    drawing = draw_harmonization_graph(environment, variable, title="", sideways=True)
    graph = environment.harmonization_graph(variable, max_nodes=MAX_NODES)
    codes = environment.codes(variable, graph.nodes)
    below = graph.weights([counts[graph.nodes[place]] for place in graph.observed]).tolist()
    words = environment.variable(variable).words
    nodes = [
        CodeNode(
            code=code,
            box=Box.model_validate(drawn, from_attributes=True),
            is_observed=code.startswith("C"),
            n_categories=0 if isinstance(node, Arbitrary) else node.n_blocks,
            n_forms=counts[node],
            n_below=under,
            words=list(words(node)[:400]),
        )
        for code, node, under, drawn in zip(codes, graph.nodes, below, drawing.nodes, strict=True)
    ]
    edges = [
        Course(start=start, end=end, path=arrow.path, head=arrow.corners)
        for (start, end), arrow in zip(graph.edges, drawing.arrows, strict=True)
    ]
    return HarmonizationsShape(width=drawing.width, height=drawing.height, codes=nodes, edges=edges)


class JobShape(BaseModel):
    """A job and how far it is."""

    id: str
    kind: str
    who: str
    state: Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
    made: str
    changed: str
    done: int
    total: int | None
    is_cancelled: bool = Field(description="Whether it was asked to stop.")
    file: FileAsked
    request: dict[str, Any]
    error: Refusal | None
    deleted_on: str = Field(description="When what it found is deleted.")


class JobList(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobShape]


class ResultShape(BaseModel):
    """What a job found: the document that the command line prints, without single records.

    Editors get `parts` of single records and categories too; a table has the records themselves.
    """

    job: JobShape
    document: dict[str, Any]
    with_records: bool
    downloads: list[str] = Field(description="Names of what can be downloaded.")


class TablePage(BaseModel):
    """Some rows of a table."""

    columns: list[str]
    total: int
    offset: int
    rows: list[list[Any]]


class AllowedFolder(BaseModel):
    """A folder that may be read, and the files in it."""

    folder: str
    files: list[AllowedFileShape]


class AllowedFileShape(BaseModel):
    """A file that may be read."""

    name: str
    size: int
    changed: str


class PolicyShape(BaseModel):
    """A policy that is known by its name, and where its limits come from."""

    name: str
    description: str


class FileList(BaseModel):
    """The files that may be read, and the policies that they may be judged by."""

    folders: list[AllowedFolder]
    policies: list[PolicyShape]


_OURS = ("file", "environment", "file_asked")
# Names of columns, and how they are attacked. Recodes, values that are read as missing, fractions by
# stratum and what values mean are of the file; so is, until it is known better, all that is new.
_FOR_READERS = (
    "keys", "scenario", "columns", "weight", "strata", "household", "sensitive", "policy", "missing",
    "seed", "max_size", "header",
)  # fmt: skip


def job_shape(job: Job, keep_days: int, *, with_values: bool) -> JobShape:
    """Return a job as pages show it; what tells of values of a file is for editors."""
    request = {
        name: given
        for name, given in job.request.items()
        if name not in _OURS and (with_values or name in _FOR_READERS)
    }
    error = None if job.error is None else Refusal.model_validate(job.error)
    if error is not None and not with_values:
        # What was asked for may be quoted in it.
        error = Refusal(code=error.code, message="This job failed.", hint="Ask an editor why.")
    return filled(
        JobShape,
        job,
        state=job.state.value,
        made=_time(job.made),
        changed=_time(job.changed),
        file=FileAsked.model_validate(job.request["file_asked"]),
        request=request,
        error=error,
        deleted_on=_time(job.changed + keep_days * 24 * 3600),
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


AllowedFolder.model_rebuild()
