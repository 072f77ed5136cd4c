import { useQuery } from '@tanstack/react-query';
import type { Place } from '../../api/downloads';
import { dependentsTexts } from '../../texts/dependents';
import { selectionTexts } from '../../texts/selection';
import { Dependents } from '../../ui/Dependents';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { UserText } from '../../ui/UserText';
import { parentsQuery } from './relationQueries';

/** Asks before assets are archived, and names those that have them as parts. */
export function ArchiveDialog(props: {
  assets: readonly (Place & { name: string })[];
  onClose: () => void;
  onConfirm: () => void;
}) {
  const { assets } = props;
  const wholes = useQuery(parentsQuery(assets));
  return (
    <Dialog title={selectionTexts.archiveTitle(assets.length)} onClose={props.onClose}>
      <ul className="names" tabIndex={0}>
        {assets.map(({ databaseId, assetId, name }) => (
          <li key={`${databaseId}/${assetId}`}>
            <UserText text={name} />
          </li>
        ))}
      </ul>
      <p>{selectionTexts.archiveHelp}</p>
      <Dependents query={wholes} title={dependentsTexts.assets} />
      <div className="acts">
        <button type="button" className="primary" onClick={props.onConfirm}>
          {selectionTexts.archive}
        </button>
        <CloseButton first />
      </div>
    </Dialog>
  );
}
