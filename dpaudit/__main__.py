"""`python -m dpaudit`, as the console script."""

from dpaudit.cli.console_script import main

if __name__ == "__main__":
    main()
