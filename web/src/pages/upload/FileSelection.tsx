import { useRef, type RefObject } from 'react';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { uploadTexts } from '../../texts/upload';
import { UserText } from '../../ui/UserText';
import { formatBytes } from '../../texts/formats';
import { fromPicker, type LocalFile } from './localFiles';
import { FILE_STATUSES, type FileStatus } from './comparison';

const SHOWN = 200;

/** The files to upload: dropped, or chosen. */
export function FileSelection(props: {
  files: LocalFile[];
  /** Whether files are dragged over the window. */
  over: boolean;
  failure: string;
  /** Why files cannot be uploaded, by path. */
  refused: ReadonlyMap<string, string>;
  /** How the files compare with those of their target, by path; empty if that is not known. */
  statuses: ReadonlyMap<string, FileStatus>;
  /** Files with these marks are not uploaded. */
  left: ReadonlySet<FileStatus>;
  onAdd: (files: LocalFile[]) => void;
  onChange: (files: LocalFile[]) => void;
}) {
  const { files, over, failure, refused, statuses, left, onAdd, onChange } = props;
  const picker = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const wrong = files.filter(({ path }) => refused.has(path));
  const total = files.reduce((sum, local) => sum + local.file.size, 0);
  return (
    <section aria-label={assetTexts.files} className="stack">
      <div className={over ? 'drop over' : 'drop'}>
        <p>
          <strong>{uploadTexts.drop}</strong>
        </p>
        <p className="faint">{uploadTexts.or}</p>
        <div className="acts">
          <button type="button" onClick={() => picker.current?.click()}>
            {uploadTexts.chooseFiles}
          </button>
          <button type="button" onClick={() => folder.current?.click()}>
            {uploadTexts.chooseFolder}
          </button>
        </div>
        <Picker ref={picker} label={uploadTexts.chooseFiles} onAdd={onAdd} />
        <Picker ref={folder} label={uploadTexts.chooseFolder} onAdd={onAdd} folder />
      </div>
      <p role="alert" className="failure">
        {failure}
      </p>
      <div role="alert">
        {wrong.length > 0 && (
          <p className="notice bad">
            {uploadTexts.refused.summary(wrong.length, wrong.length < files.length)}
          </p>
        )}
      </div>
      {files.length > 0 && (
        <>
          <p role="status" className="acts">
            <strong>{uploadTexts.chosen(files.length, formatBytes(total))}</strong>
            <button type="button" onClick={() => onChange([])}>
              {uploadTexts.clear}
            </button>
          </p>
          <ul className="files" tabIndex={0}>
            {shownFiles(files, refused, statuses).map((file, at) => (
              // Two files may have one path.
              <li key={at}>
                <UserText text={file.path.slice(1)} title={file.path} line />
                <RefusalText reason={refused.get(file.path)} />
                <FileStatusText status={statuses.get(file.path)} left={left} />
                <span className="faint size">{formatBytes(file.file.size)}</span>
                <button
                  type="button"
                  className="quiet"
                  aria-label={uploadTexts.remove(file.path.slice(1))}
                  onClick={() => onChange(files.filter((other) => other !== file))}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
          {files.length > SHOWN && <p className="faint">{texts.find.more(files.length - SHOWN)}</p>}
        </>
      )}
    </section>
  );
}

/** The files that are shown: first those that cannot be uploaded, of many those already there. */
function shownFiles(
  files: LocalFile[],
  refused: ReadonlyMap<string, string>,
  statuses: ReadonlyMap<string, FileStatus>,
): LocalFile[] {
  const wrong = files.filter(({ path }) => refused.has(path));
  const right = files.filter(({ path }) => !refused.has(path));
  if (files.length <= SHOWN) return [...wrong, ...right];
  const of = (status: FileStatus) =>
    right.filter(({ path }) => (statuses.get(path) ?? 'new') === status);
  const [fresh, ...others] = FILE_STATUSES.map(of);
  return [...wrong, ...others.flat(), ...(fresh ?? [])].slice(0, SHOWN);
}

const RefusalText = ({ reason }: { reason: string | undefined }) =>
  reason === undefined ? null : <span className="failure refused">{reason}</span>;

function FileStatusText({
  status,
  left,
}: {
  status: FileStatus | undefined;
  left: ReadonlySet<FileStatus>;
}) {
  if (!status) return null;
  const out = left.has(status) ? `, ${uploadTexts.states.skipped}` : '';
  return (
    <span className={status === 'replaces' ? 'mark bad' : 'mark faint'}>
      {uploadTexts.marks[status] + out}
    </span>
  );
}

function Picker({
  ref,
  label,
  onAdd,
  folder,
}: {
  ref: RefObject<HTMLInputElement | null>;
  label: string;
  onAdd: (files: LocalFile[]) => void;
  folder?: boolean;
}) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={label}
      {...(folder ? { webkitdirectory: '' } : {})}
      onChange={(event) => {
        if (event.target.files) onAdd(fromPicker(event.target.files));
        event.target.value = '';
      }}
    />
  );
}
