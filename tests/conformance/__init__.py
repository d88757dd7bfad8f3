"""Plays the scenarios that TensorFlow's own session hooks were recorded in."""
