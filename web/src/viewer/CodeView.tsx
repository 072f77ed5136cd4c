import { fileExtension } from '../ui/fileKinds';
import { highlight } from './highlight';
import { indentJson } from './indentJson';
import type { ViewProps } from './Poster';
import { TextStage } from './TextStage';

/** The beginning of a file of a language, with its colours. */
export function CodeView(props: ViewProps) {
  const language = fileExtension(props.file.path);
  return (
    <TextStage
      {...props}
      render={(text) => (
        <pre className="code">
          {highlight(language === 'json' ? indentJson(text) : text, language)}
        </pre>
      )}
    />
  );
}
