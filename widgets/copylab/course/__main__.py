"""`python -m copylab.course`: the command `copylab`."""

from .command import main

main()
