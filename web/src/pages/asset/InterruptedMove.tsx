import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { filesTexts } from '../../texts/files';
import { legible } from '../../ui/formats';
import { nameOf } from '../../viewer/kinds';
import type { Place } from '../../viewer/sources';
import { destinationOf } from './changes';
import { folderContent } from './folders';
import { interruptedMove, rememberMove, type FolderMove } from './folderMove';

interface Props {
  place: Place;
  onGoOn: (move: FolderMove) => void;
}

/** Says what a move of a folder that was interrupted by a reload has moved, and what not. */
export function InterruptedMove({ place, onGoOn }: Props) {
  const [move, setMove] = useState(() => interruptedMove(place));
  return move && <Notice {...{ place, move, onGoOn }} onEnd={() => setMove(null)} />;
}

function Notice(props: Props & { move: FolderMove; onEnd: () => void }) {
  const { place, move } = props;
  const { data } = useQuery(folderContent(place, move.path));
  // Without files in it, the folder was moved as a whole.
  if (!data?.files.length) return null;
  const end = () => {
    rememberMove(null);
    props.onEnd();
  };
  const left = data.files.length;
  const name = legible(nameOf(move.path.slice(0, -1)));
  const to = legible(destinationOf(move.draft));
  return (
    <div className="notice" role="status">
      <p>{filesTexts.interrupted(name, to, left, Math.max(0, move.files - left))}</p>
      <div className="acts">
        <button
          type="button"
          onClick={() => {
            end();
            props.onGoOn(move);
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
