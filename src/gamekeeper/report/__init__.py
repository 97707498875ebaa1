"""What people look at: drawings, tables for reading, and the HTML report. Begin with `mapping_report`."""
