"""`python -m copylab`, and the command `copylab`."""

import sys

from .doctor import print_report


def main() -> None:
    """Do what the command line says; where copylab cannot be imported, say why, or examine it."""
    try:
        from .course import main as run_command
    # An old release of what copylab needs may raise anything.
    except Exception as error:
        if "doctor" in sys.argv[1:]:
            print_report()
        if isinstance(error, ImportError):
            sys.exit(f"copylab cannot start: {error}. `copylab doctor` says what to do.")
        raise
    run_command()


if __name__ == "__main__":
    main()
