"""What every test may use."""

pytest_plugins = ["tests.database", "tests.processes", "tests.browser", "tests.people"]
