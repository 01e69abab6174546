"""Programs around the package: the command line, drawings, questions to the framework."""
