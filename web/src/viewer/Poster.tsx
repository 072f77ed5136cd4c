import type { FileVersion, Place } from '../api/downloads';
import type { PictureSource } from '../api/pictures';
import { texts } from '../texts';
import { Picture } from '../ui/Picture';
import type { Seat } from './bond';

export interface StageFile {
  path: string;
  size: number | null;
  /** When its newest content was stored, as far as it is known. */
  changedAt?: string | null;
  /** An earlier content that is shown instead of the newest one. */
  earlier?: FileVersion | undefined;
}

export interface ViewProps extends Place {
  file: StageFile;
  picture: PictureSource;
  /** How a model is first seen: as a link has it, or the id of a saved view. */
  view?: string | undefined;
  /** Where it shares its camera with another model. */
  seat?: Seat | undefined;
}

/** The picture of a file, with what is going on below it. */
export function Poster(
  props: ViewProps & {
    busy?: boolean;
    fraction?: number;
    note?: string;
    caption?: string;
    failure?: string;
    retry?: () => void;
  },
) {
  const { file, preview } = props.picture;
  return (
    <>
      <span className="poster">
        {/* That there is no picture is known once nothing loads any more. */}
        {(file ?? preview ?? !props.busy) && <Picture picture={props.picture} />}
      </span>
      {props.busy && (
        <p className="note" role="status">
          {texts.loading}
          {props.fraction !== undefined && (
            <progress value={props.fraction} aria-label={texts.loading} />
          )}
        </p>
      )}
      {props.note && (
        <p className="note" role="status">
          {props.note}
        </p>
      )}
      {props.caption && (
        <p className="note caption" role="status">
          {props.caption}
        </p>
      )}
      {props.failure && (
        <p className="note failed" role="status">
          {props.failure}{' '}
          {props.retry && (
            <button type="button" onClick={props.retry}>
              {texts.tryAgain}
            </button>
          )}
        </p>
      )}
    </>
  );
}
