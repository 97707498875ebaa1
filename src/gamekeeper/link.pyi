from gamekeeper.attack.linkage.columns import LinkVariable as LinkVariable
from gamekeeper.attack.linkage.files import (
    MaskingComparison as MaskingComparison,
    compare_maskings as compare_maskings,
)
from gamekeeper.attack.linkage.files import link_files as _link_files
from gamekeeper.attack.linkage.file_links import FileLinks as FileLinks
from gamekeeper.attack.linkage.structure import StructureLinks as StructureLinks
from gamekeeper.attack.linkage.structure import link_structure as _link_structure
from gamekeeper.attack.linkage.truth import true_partners as true_partners

files = _link_files
structure = _link_structure
