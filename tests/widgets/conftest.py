"""What the tests of all rooms may use."""

from kernels import kernel as kernel  # noqa: PLC0414  # a fixture
