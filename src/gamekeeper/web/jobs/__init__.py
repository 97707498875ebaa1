"""Long work on files of people, each piece in a process of its own; `jobs` knows them all, `work` is one."""
