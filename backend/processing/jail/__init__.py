"""The jail: untrusted files are read by a process that can open no file and no connection.

- `parent`: starts the processes, hands them files, kills them, and checks what they return.
- `template`: a process with all libraries loaded, and no secrets; it forks one child for each file.
- `child`: confines itself (`confinement`, `seccomp`), then reads one file. CAD models are converted
  by a library that writes a temporary file: their child may use files, by `landlock` of one folder.
"""
