"""The steps of the jobs that archive, restore and delete assets."""
