"""What `make bench` compares must compute the same."""
