"""What goes over the wire: records that a browser reads, made from what the workbench finds."""
