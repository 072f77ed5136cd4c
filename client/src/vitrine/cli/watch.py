"""The command that follows a folder."""

from datetime import datetime

from vitrine.cli.output import size_text
from vitrine.cli.session import Session, command
from vitrine.cli.sync import PlaceArgument, sync_of
from vitrine.cli.transfers import FolderArgument
from vitrine.transfer.sync_plan import Action
from vitrine.transfer.watching import watch


@command("watch")
def watch_folder(session: Session, folder: FolderArgument, place: PlaceArgument) -> None:
    """Follow a folder and upload what is saved, until Ctrl-C.

    A file is uploaded as a new version when its size and time have not changed for three seconds.
    Files that changed before are uploaded at the start. Nothing is archived. A file that was also
    changed on the server is reported and left, as by `sync push`.
    """
    sync = sync_of(session, folder, place)
    changes = session.wiring.watch(folder.resolve())
    session.output.say(f"watching {folder}; Ctrl-C ends")
    for step in watch(sync, changes):
        session.output.document(step.wire())
        if not session.output.as_json:
            fact = size_text(step.size) if step.action is Action.UPLOAD else step.reason
            said = "uploaded" if step.action is Action.UPLOAD else step.action.value
            time = datetime.now().astimezone().strftime("%H:%M:%S")
            session.output.line(f"{time}\t{said}\t{step.path}\t{fact}")
        session.output.flush()
