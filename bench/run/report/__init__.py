"""forebay report: how steady a run was."""
