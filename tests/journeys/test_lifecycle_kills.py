"""Everything is killed while the files of an asset come back: each of them does.

The long ones (`tests/journeys/long`) kill while files are archived and deleted, too.
"""

from tests.journeys.many_files import ManyFiles
from tests.journeys.runtime import Runtime
from tests.journeys.test_lifecycle import change

FILES = 200


def test_files_that_come_back_survive_the_death_of_everything(own_runtime: Runtime) -> None:
    own_runtime.up()
    api = own_runtime.client()
    database = api.new_database("museum")
    asset = api.new_asset(database, "Lion", assetId="lion")
    names = tuple(f"/d{number % 7}/{number}.stl" for number in range(FILES))
    lion = ManyFiles(own_runtime, database, asset, names)
    lion.put()
    before = lion.versions()
    assert len(before) == FILES

    change(api, "archive", lion.path)
    lion.demand(archived=True)

    lion.kill_during("unarchive", archived=False)
    lion.demand(archived=False)
    assert lion.versions() == before  # nothing was copied
