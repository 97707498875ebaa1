"""What goes over the wire whatever is asked: ids, errors of one shape, large answers, events."""
