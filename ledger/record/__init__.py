"""The record as a file that leaves the installation, and what verifies it there."""
