"""Operations on metadata and attributes.

`RecordService` writes records of any kind of entity by the schemas in force, without checking
permissions; `MetadataService` (in `commands`) checks them, for databases, assets and files.
"""
