from gamekeeper.attack.linkage.evaluation import (
    MaskingComparison as MaskingComparison,
    compare_maskings as compare_maskings,
)
from gamekeeper.attack.linkage.files import FileLinks as FileLinks, link_files as files
from gamekeeper.attack.linkage.structure import (
    StructureLinks as StructureLinks,
    link_structure as structure,
)
from gamekeeper.attack.linkage.truth import true_partners as true_partners
from gamekeeper.attack.linkage.variables import LinkVariable as LinkVariable
