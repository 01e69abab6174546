"""Programs around the package: the command line, drawings, checks of the framework."""
