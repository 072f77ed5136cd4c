"""The two versions that the product reports: of its contract, and its own."""

# The VAMS release whose REST contract the API implements. VAMS clients compare it with their own.
CONTRACT_VERSION = "2.5.1"

# The later VAMS release whose clients receive 501 for what is missing.
LATER_VERSION = "2.6.1"

# The version in pyproject.toml. Deployed functions do not contain that file.
PRODUCT_VERSION = "0.1.0"

# The output of the storage stack that holds the version.
RELEASE_OUTPUT = "Release"
