"""Pages on what an intruder can do with a release: a file, its links, tables. Begin with `risk_report`."""
