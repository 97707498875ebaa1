"""Who may do what: accounts, sessions, roles."""
