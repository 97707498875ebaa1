from gamekeeper.importing.classifications import Classification as Classification
from gamekeeper.importing.classifications import (
    LIST_FORMATS as LIST_FORMATS,
    ListFormat as ListFormat,
    read_classifications as read_classifications,
)
from gamekeeper.importing.proposing import (
    AnswerDecision as AnswerDecision,
    Decision as Decision,
    DecisionsFile as DecisionsFile,
    FormDecisions as FormDecisions,
)
from gamekeeper.importing.files import OpenedFile as OpenedFile
from gamekeeper.importing.matching import (
    Candidate as Candidate,
    Proposal as Proposal,
    propose_questions as propose_questions,
)
from gamekeeper.importing.questions import (
    Answering as Answering,
    Instrument as Instrument,
    ProposedAnswer as ProposedAnswer,
    ProposedQuestion as ProposedQuestion,
)
from gamekeeper.importing.proposing import edits_for as edits_for, propose_forms as propose_forms
from gamekeeper.importing.proposing import (
    FORMATS as FORMATS,
    Format as Format,
    read_instrument as read_instrument,
)
