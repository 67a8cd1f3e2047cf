"""What pages draw and could not measure while they are built."""
