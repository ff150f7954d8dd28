"""Melix in Jupyter notebooks."""

__version__ = "0.1.0"
