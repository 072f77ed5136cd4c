import { useEffect, useId, useRef } from 'react';
import { filesTexts } from '../../texts/files';
import { AssetChoice, DatabaseChoice } from '../../ui/Choices';
import type { Marks } from '../../ui/useRefusal';
import type { Place } from '../../viewer/sources';
import { isFolder, stemOf, type Act, type Draft, type Subject } from './changes';

const words = filesTexts;

interface Part {
  place: Place;
  act: Act;
  subject: Subject;
  folders: readonly string[];
  draft: Draft;
  marks: Marks;
  onChange: (draft: Draft) => void;
}

/** Where a file or folder is to be: its name, its folder and the asset, as the act asks for them. */
export function Destination(props: Part) {
  const { act } = props;
  return (
    <>
      {act !== 'move' && <FileName {...props} />}
      {act !== 'rename' && <FolderName {...props} />}
      {act === 'copy' && <Target {...props} />}
    </>
  );
}

function FileName({ draft, subject, marks, onChange }: Part) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const folder = isFolder(subject);
  useEffect(() => {
    const input = field.current;
    // Typing replaces the name and keeps the extension.
    const end = folder ? input?.value.length : stemOf(input?.value ?? '')[0].length;
    input?.setSelectionRange(0, end ?? 0);
  }, [folder]);
  return (
    <>
      <label htmlFor={id}>{folder ? words.newFolderName : words.name}</label>
      <input
        ref={field}
        id={id}
        dir="auto"
        maxLength={255}
        autoComplete="off"
        {...marks('name')}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
    </>
  );
}

function FolderName({ draft, subject, folders, marks, onChange }: Part) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{isFolder(subject) ? words.into : words.folder}</label>
      <input
        id={id}
        dir="auto"
        list={`${id}-folders`}
        maxLength={1024}
        autoComplete="off"
        {...marks('folder', `${id}-help`)}
        value={draft.folder}
        onChange={(event) => onChange({ ...draft, folder: event.target.value })}
      />
      <datalist id={`${id}-folders`}>
        {!draft.target && folders.map((each) => <option key={each} value={each} />)}
      </datalist>
      <p id={`${id}-help`} className="help">
        {words.folderHelp}
      </p>
    </>
  );
}

function Target({ place, draft, marks, onChange }: Part) {
  const { target } = draft;
  const id = useId();
  const choose = (other: Place | null) => onChange({ ...draft, target: other });
  return (
    <>
      <div className="acts" role="radiogroup" aria-label={words.copyTo}>
        {[false, true].map((other) => (
          <label key={String(other)} className="check">
            <input
              type="radio"
              name={id}
              checked={(target !== null) === other}
              onChange={() => choose(other ? { ...place, assetId: '' } : null)}
            />
            {other ? words.otherAsset : words.thisAsset}
          </label>
        ))}
      </div>
      {target && (
        <>
          <DatabaseChoice
            value={target.databaseId}
            onChange={(databaseId) => choose({ databaseId, assetId: '' })}
          />
          <AssetChoice
            databaseId={target.databaseId}
            value={target.assetId}
            marks={marks('asset')}
            onChange={(assetId) => choose({ ...target, assetId })}
          />
        </>
      )}
    </>
  );
}
