import { viewerTexts } from '../texts/viewer';
import { fileExtension } from '../ui/fileKinds';
import { highlight } from './highlight';
import { indentJson, MOST_INDENTED } from './indentJson';
import type { ViewProps } from './Poster';
import { TextStage } from './TextStage';

/** The beginning of a file of a language, with its colours. */
export function CodeView(props: ViewProps) {
  const language = fileExtension(props.file.path);
  return (
    <TextStage
      {...props}
      render={(text) => {
        const lines = language === 'json' ? indentJson(text) : text;
        return (
          <>
            <pre className="code">{highlight(lines ?? text, language)}</pre>
            {lines === null && <p className="faint">{viewerTexts.notIndented(MOST_INDENTED)}</p>}
          </>
        );
      }}
    />
  );
}
