import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { assetTexts } from '../../texts/asset';
import { filesTexts } from '../../texts/files';
import { UserText } from '../../ui/UserText';
import { formatBytes } from '../../texts/formats';
import type { Place } from '../../api/downloads';
import { FileMenu, openContextMenu, type MenuActions } from './FileMenu';
import type { File } from '../../api/assets';
import type { Subject } from './fileChanges';
import { buildTree, type Folder } from './tree';
import { useTreeDrag } from './useTreeDrag';

const OPEN_UP_TO = 40;

/** Where the stage is above the files, and out of the window, a file that is chosen is shown. */
export function scrollToStage(): void {
  if (matchMedia('(max-width: 60rem)').matches) {
    document.querySelector('.asset > .main')?.scrollIntoView({ block: 'nearest' });
  }
}

interface Props {
  place: Place;
  shown: string | undefined;
  /** How many files each file lacks, by its path. */
  missing: ReadonlyMap<string, number> | undefined;
  /** Absent where nothing can be done with the files. */
  actions: MenuActions | undefined;
  /** The version of the asset whose files these are; else they are the newest. */
  version?: string;
}

export function FileTree(props: Props & { files: File[]; hasMore: boolean }) {
  const [words, setWords] = useState('');
  const onAct = props.actions?.onAct;
  const drag = useTreeDrag(onAct && ((subject, folder) => onAct('move', subject, folder)));
  const filter = words.trim().toLowerCase();
  const files = filter
    ? props.files.filter((file) => file.relativePath.toLowerCase().includes(filter))
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
      {filter !== '' && (
        <p role="status" className="faint">
          {!files.length && assetTexts.noneOfFiles}{' '}
          {props.hasMore && assetTexts.ofLoaded(props.files.length)}
        </p>
      )}
      <FolderBranch
        {...props}
        folder={buildTree(files)}
        drag={drag}
        open={files.length <= OPEN_UP_TO || filter !== ''}
      />
    </>
  );
}

interface BranchProps extends Props {
  folder: Folder;
  open: boolean;
  /** Null where nothing can be moved. */
  drag: ReturnType<typeof useTreeDrag>;
}

function FolderBranch(props: BranchProps) {
  const { folder, shown, open, actions, drag } = props;
  return (
    <ul
      className={drag?.over === folder.path ? 'tree over' : 'tree'}
      {...drag?.targetProps(folder.path)}
    >
      {folder.folders.map((folder) => (
        <li
          key={folder.path}
          className="entry"
          data-folder={folder.path}
          onContextMenu={openContextMenu}
          {...drag?.sourceProps(folderSubject(folder))}
          {...drag?.targetProps(folder.path)}
        >
          {actions && <FileMenu {...actions} subject={folderSubject(folder)} />}
          <details open={open || shown?.startsWith(folder.path)}>
            <summary>
              <UserText text={folder.name} />
            </summary>
            <FolderBranch {...props} folder={folder} />
          </details>
        </li>
      ))}
      {folder.files.map((file) => (
        <li
          key={file.key}
          className="entry"
          onContextMenu={openContextMenu}
          {...(!file.isArchived && drag?.sourceProps(fileSubject(file)))}
        >
          <FileRow {...props} file={file} />
          {actions && <FileMenu {...actions} subject={fileSubject(file)} />}
        </li>
      ))}
    </ul>
  );
}

const folderSubject = ({ path, total, archived }: Folder): Subject => ({
  path,
  isArchived: total > 0 && archived === total,
  hasArchived: archived > 0,
});

const fileSubject = (file: File): Subject => ({
  path: filePath(file),
  isArchived: file.isArchived ?? false,
});

function FileRow({ place, file, shown, missing, version }: Props & { file: File }) {
  if (file.isArchived || file.isPermanentlyDeleted) {
    return (
      <span className="file faint">
        <UserText text={file.fileName} line />
        <span>{file.isArchived ? filesTexts.archived : filesTexts.deleted}</span>
      </span>
    );
  }
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={place}
      search={{ file: filePath(file), version }}
      aria-current={filePath(file) === shown ? 'true' : undefined}
      resetScroll={false}
      onClick={scrollToStage}
      className="file"
      preload={false}
    >
      <UserText text={file.fileName} line />
      <MissingCount files={missing?.get(filePath(file))} />
      <span className="faint">{file.size != null && formatBytes(file.size)}</span>
    </Link>
  );
}

function MissingCount({ files }: { files: number | undefined }) {
  return files ? <span className="bad">{assetTexts.lacking(files)}</span> : null;
}

export const filePath = (file: File): string => `/${file.relativePath.replace(/^\/+/, '')}`;
