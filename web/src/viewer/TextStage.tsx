import type { ReactNode } from 'react';
import { formatBytes } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { fileName } from '../ui/fileKinds';
import { Poster, type ViewProps } from './Poster';
import { MOST_TEXT, useText } from './useText';

/** The place of a text that scrolls, with a note if it is not the whole file. */
export function TextStage(props: ViewProps & { render: (text: string) => ReactNode }) {
  const { content, poster } = useText(props);
  if (!content) return <Poster {...props} {...poster} />;
  return (
    <div className="text" tabIndex={0} role="group" aria-label={fileName(props.file.path)}>
      {props.render(content.text)}
      {!content.isCertain && <p className="faint">{viewerTexts.notUtf8}</p>}
      {content.isCut && <p className="faint">{viewerTexts.textCut(formatBytes(MOST_TEXT))}</p>}
    </div>
  );
}
