import { useEffect, useId, useRef } from 'react';
import { filesTexts } from '../../texts/files';
import { AssetSelect, DatabaseSelect } from '../../ui/AssetSelect';
import type { FieldProps } from '../../ui/useFormError';
import type { Place } from '../../api/downloads';
import { isFolder, splitExtension, type Act, type Draft, type Subject } from './fileChanges';

const words = filesTexts;

interface DestinationProps {
  place: Place;
  act: Act;
  subject: Subject;
  folders: readonly string[];
  draft: Draft;
  fieldProps: FieldProps;
  onChange: (draft: Draft) => void;
}

/** Where a file or folder is to be: its name, its folder and the asset, as the act needs them. */
export function DestinationFields(props: DestinationProps) {
  const { act } = props;
  return (
    <>
      {act !== 'move' && <FileName {...props} />}
      {act !== 'rename' && <FolderName {...props} />}
      {act === 'copy' && <TargetAsset {...props} />}
    </>
  );
}

function FileName({ draft, subject, fieldProps, onChange }: DestinationProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const folder = isFolder(subject);
  useEffect(() => {
    const input = field.current;
    // Typing replaces the name and keeps the extension.
    const end = folder ? input?.value.length : splitExtension(input?.value ?? '')[0].length;
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
        {...fieldProps('name')}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
    </>
  );
}

function FolderName({ draft, subject, folders, fieldProps, onChange }: DestinationProps) {
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
        {...fieldProps('folder', `${id}-help`)}
        value={draft.folder}
        onChange={(event) => onChange({ ...draft, folder: event.target.value })}
      />
      <datalist id={`${id}-folders`}>
        {!draft.target && folders.map((folder) => <option key={folder} value={folder} />)}
      </datalist>
      <p id={`${id}-help`} className="help">
        {words.folderHelp}
      </p>
    </>
  );
}

function TargetAsset({ place, draft, fieldProps, onChange }: DestinationProps) {
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
          <DatabaseSelect
            value={target.databaseId}
            onChange={(databaseId) => choose({ databaseId, assetId: '' })}
          />
          <AssetSelect
            databaseId={target.databaseId}
            value={target.assetId}
            fieldProps={fieldProps('asset')}
            onChange={(assetId) => choose({ ...target, assetId })}
          />
        </>
      )}
    </>
  );
}
