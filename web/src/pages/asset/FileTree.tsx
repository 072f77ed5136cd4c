import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { assetTexts } from '../../texts/asset';
import { filesTexts } from '../../texts/files';
import { Name } from '../../ui/Name';
import { size } from '../../ui/formats';
import type { Place } from '../../viewer/sources';
import type { Act, Subject } from './changes';
import { FileMenu } from './FileMenu';
import type { File } from './queries';
import { treeOf, type Folder } from './tree';

const OPEN_UP_TO = 40;

/** Where the stage is above the files, and out of the window, a file that is chosen is shown. */
export function showStage(): void {
  if (matchMedia('(max-width: 60rem)').matches) {
    document.querySelector('.asset > .main')?.scrollIntoView({ block: 'nearest' });
  }
}

interface Props {
  place: Place;
  shown: string | undefined;
  /** How many files each file lacks, by its path. */
  missing: ReadonlyMap<string, number> | undefined;
  /** Absent where the caller may not change files. */
  onAct: ((act: Act, subject: Subject) => void) | undefined;
}

export function FileTree(props: Props & { files: File[]; hasMore: boolean }) {
  const [words, setWords] = useState('');
  const wanted = words.trim().toLowerCase();
  const files = wanted
    ? props.files.filter((each) => each.relativePath.toLowerCase().includes(wanted))
    : props.files;
  return (
    <>
      {props.files.length > 12 && (
        <input
          type="search"
          aria-label={assetTexts.filterFiles}
          placeholder={assetTexts.filterFiles}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {wanted !== '' && (
        <p role="status" className="faint">
          {!files.length && assetTexts.noneOfFiles}{' '}
          {props.hasMore && assetTexts.ofLoaded(props.files.length)}
        </p>
      )}
      <Branch
        {...props}
        folder={treeOf(files)}
        open={files.length <= OPEN_UP_TO || wanted !== ''}
      />
    </>
  );
}

function Branch(props: Props & { folder: Folder; open: boolean }) {
  const { folder, shown, open, onAct } = props;
  return (
    <ul className="tree">
      {folder.folders.map((each) => (
        <li key={each.path} className="entry">
          {onAct && <Menu subject={{ path: each.path, isArchived: false }} onAct={onAct} />}
          <details open={open || shown?.startsWith(each.path)}>
            <summary>
              <Name text={each.name} />
            </summary>
            <Branch {...props} folder={each} />
          </details>
        </li>
      ))}
      {folder.files.map((file) => (
        <li key={file.key} className="entry">
          <FileRow {...props} file={file} />
          {onAct && (
            <Menu
              subject={{ path: pathOf(file), isArchived: file.isArchived ?? false }}
              onAct={onAct}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function Menu({ subject, onAct }: { subject: Subject; onAct: NonNullable<Props['onAct']> }) {
  return <FileMenu subject={subject} onChoose={(act) => onAct(act, subject)} />;
}

function FileRow({ place, file, shown, missing }: Props & { file: File }) {
  if (file.isArchived) {
    return (
      <span className="file faint">
        <Name text={file.fileName} line />
        <span>{filesTexts.archived}</span>
      </span>
    );
  }
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={place}
      search={{ file: pathOf(file) }}
      aria-current={pathOf(file) === shown ? 'true' : undefined}
      resetScroll={false}
      onClick={showStage}
      className="file"
      preload={false}
    >
      <Name text={file.fileName} line />
      <Lacking files={missing?.get(pathOf(file))} />
      <span className="faint">{file.size != null && size(file.size)}</span>
    </Link>
  );
}

function Lacking({ files }: { files: number | undefined }) {
  return files ? <span className="bad">{assetTexts.lacking(files)}</span> : null;
}

export const pathOf = (file: File): string => `/${file.relativePath.replace(/^\/+/, '')}`;
