"""What goes into the container images."""
