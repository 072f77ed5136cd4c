import type { ViewProps } from './Poster';
import { TextStage } from './TextStage';

/** The beginning of a text file, as text: markup in it is not rendered. */
export const TextView = (props: ViewProps) => (
  <TextStage {...props} render={(text) => <pre>{text}</pre>} />
);
