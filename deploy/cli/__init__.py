"""The `skyline` command: one file per subcommand."""
