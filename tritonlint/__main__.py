"""`python -m tritonlint` is the same program as `tritonlint`."""

from tritonlint.cli import main

if __name__ == "__main__":
    main()
