"""The jail: untrusted files are read by a process that can open no file and no connection.

- `parent`: starts the processes, hands them files and kills them; `conversation` is with one child.
- `means`: tries out how far the kernel allows all of this; `results` checks what a child returns.
- `survey`: reports what a system allows its processes, for the function `Probe`.
- `template`: a process with all libraries loaded, and no secrets; it forks one child for each file.
- `child`: confines itself (`confinement`, `seccomp`), then reads one file. CAD models are converted
  by a library that writes a temporary file: their child may use files, by `landlock` of one folder.
"""
