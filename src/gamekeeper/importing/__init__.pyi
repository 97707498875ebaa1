from gamekeeper.importing.classifications.classification import Classification as Classification
from gamekeeper.importing.classifications.registry import (
    LIST_FORMATS as LIST_FORMATS,
    ListFormat as ListFormat,
    read_classifications as read_classifications,
)
from gamekeeper.importing.decisions import (
    AnswerDecision as AnswerDecision,
    Decision as Decision,
    DecisionsFile as DecisionsFile,
    FormDecisions as FormDecisions,
)
from gamekeeper.importing.files.opened import OpenedFile as OpenedFile
from gamekeeper.importing.matching.proposal import (
    Candidate as Candidate,
    Proposal as Proposal,
    propose_questions as propose_questions,
)
from gamekeeper.importing.proposed_question import (
    Answering as Answering,
    Instrument as Instrument,
    ProposedAnswer as ProposedAnswer,
    ProposedQuestion as ProposedQuestion,
)
from gamekeeper.importing.proposing import edits_for as edits_for, propose_forms as propose_forms
from gamekeeper.importing.readers.registry import (
    FORMATS as FORMATS,
    Format as Format,
    read_instrument as read_instrument,
)
