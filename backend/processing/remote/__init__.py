"""Reading in another function, where the kernel does not confine the process that reads a file.

That function has no permissions, and an instance of it serves one file only. It is given presigned
URLs of the file and of what it may write. It does not know the asset: it replies with the names of
files that it needs, and is called again with their URLs.

- `invoker`: calls the reader in rounds, and checks everything that it returns.
- `reader`: reads the file, in the function that is called.
"""

from backend.processing import limits

# Maximum depth of references. A scene may reference models, which reference materials, which
# reference textures.
ROUNDS = 6
# As in a jail, which however reads a model with the first 512 of more (decision 49).
NAMES = limits.REFERENCED_FILES
# Longer than any path of an asset (a key of S3 has 1,024 bytes): a longer name cannot exist.
NAME_CHARACTERS = 2000
