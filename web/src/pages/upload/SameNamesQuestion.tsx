import { useId } from 'react';
import { uploadTexts } from '../../texts/upload';
import { visibleName } from '../../texts/formats';
import { fileName } from '../../ui/fileKinds';
import { UserText } from '../../ui/UserText';
import type { SameName } from './sameNames';

const words = uploadTexts.sameName;

/** Asks of files whose name is at other paths: a new file, or a new version of one of those. */
export function SameNamesQuestion(props: {
  items: readonly SameName[];
  /** The path that was chosen instead of that of a file. */
  chosen: ReadonlyMap<File, string>;
  onChoose: (file: File, path: string | null) => void;
}) {
  const { items, chosen, onChoose } = props;
  const id = useId();
  if (!items.length) return null;
  return (
    <div className="stack notice" role="group" aria-label={words.title}>
      <p>{words.title}</p>
      {items.map(({ local: { file, path }, paths }, at) => (
        <div key={path} className="stack">
          <label htmlFor={`${id}-${at}`}>
            <UserText text={fileName(path)} />
          </label>
          <select
            id={`${id}-${at}`}
            value={chosen.get(file) ?? ''}
            onChange={(event) => onChoose(file, event.target.value || null)}
          >
            <option value="">{words.newFile(visibleName(path.slice(1)))}</option>
            {paths.map((other) => (
              <option key={other} value={other}>
                {words.newVersion(visibleName(other.slice(1)))}
              </option>
            ))}
          </select>
        </div>
      ))}
    </div>
  );
}
