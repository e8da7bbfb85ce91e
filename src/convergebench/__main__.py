"""`python -m convergebench`: the same program as `cbench`."""

from convergebench.cli.main import main

if __name__ == "__main__":
    main()
