"""``python -m lawful``."""

from __future__ import annotations

import sys

from lawful.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
