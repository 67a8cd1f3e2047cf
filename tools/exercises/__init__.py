"""Exercises are read, tried, broken by rule, and told of to teachers."""
