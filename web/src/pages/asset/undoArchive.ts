import { errorText } from '../../api/errors';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { toast } from '../../ui/Toasts';
import { changeFile, toDraft, type Subject } from './fileChanges';

/** Offers to restore what was archived: nothing is lost by it. `onRestored` is called after a try. */
export const archiveUndo = (
  place: Place,
  subject: Subject,
  label: string,
  onRestored: () => void,
) => ({
  name: texts.undo,
  act: () =>
    void changeFile(place, 'restore', subject, toDraft('restore', subject), () => undefined)
      .then(
        () => toast(filesTexts.done.restore(label)),
        (error: unknown) => toast(filesTexts.notDone.restore(label, errorText(error))),
      )
      .finally(onRestored),
});
