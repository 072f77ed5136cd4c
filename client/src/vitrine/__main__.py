"""`python -m vitrine` is the command `vitrine`."""

from vitrine.cli.app import main

main()
