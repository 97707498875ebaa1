"""Files of others as plain values: text, sheets and XML, within limits and without surprises."""
