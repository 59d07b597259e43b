"""The largest change of a pipeline's output, measured over all neighboring inputs."""
