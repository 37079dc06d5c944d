"""What a person drives: the command line, the simulator, workloads, scenarios, replay and reports."""
