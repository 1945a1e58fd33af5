"""`python -m copylab`: the command `copylab`."""

from .course import main

main()
