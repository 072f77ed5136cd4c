import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { filesTexts } from '../../texts/files';
import { replaceBidiMarks } from '../../texts/formats';
import { fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';
import { destinationPath } from './fileChanges';
import { folderContentQuery } from './folders';
import { interruptedMove, rememberMove, type FolderMove } from './folderMove';

interface Props {
  place: Place;
  onContinue: (move: FolderMove) => void;
}

/** Says what a move of a folder that was interrupted by a reload has moved, and what not. */
export function InterruptedMove({ place, onContinue }: Props) {
  const [move, setMove] = useState(() => interruptedMove(place));
  return move && <Notice {...{ place, move, onContinue }} onEnd={() => setMove(null)} />;
}

function Notice(props: Props & { move: FolderMove; onEnd: () => void }) {
  const { place, move } = props;
  const { data } = useQuery(folderContentQuery(place, move.path));
  // Without files in it, the folder was moved as a whole.
  if (!data?.files.length) return null;
  const end = () => {
    rememberMove(null);
    props.onEnd();
  };
  const left = data.files.length;
  const name = replaceBidiMarks(fileName(move.path.slice(0, -1)));
  const to = replaceBidiMarks(destinationPath(move.draft));
  return (
    <div className="notice" role="status">
      <p>{filesTexts.interrupted(name, to, left, Math.max(0, move.files - left))}</p>
      <div className="acts">
        <button
          type="button"
          onClick={() => {
            end();
            props.onContinue(move);
          }}
        >
          {filesTexts.goOn}
        </button>
        <button type="button" onClick={end}>
          {filesTexts.leaveThere}
        </button>
      </div>
    </div>
  );
}
