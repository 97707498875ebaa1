"""Categories made coarser: as a steward types it, or as a search finds it.

Begin with `recode` (rules as they are typed) and `search` (the least loss that meets a target).
`sources` says where allowed categories come from, `wishes` what a steward may want of them, and
`writing` turns what was found into rules that can be typed again.
"""
