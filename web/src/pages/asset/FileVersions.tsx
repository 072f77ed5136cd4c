import { LazyDialog } from '../../ui/LazyDialog';
import { lazyComponent } from '../../ui/lazyComponent';
import type { FileVersionsProps } from './FileVersionsDialog';

const Loaded = lazyComponent(() => import('./FileVersionsDialog'), 'FileVersionsDialog');

/** The window with the contents that a file had. */
export function FileVersions(props: FileVersionsProps) {
  return (
    <LazyDialog onClose={props.onClose}>
      <Loaded {...props} />
    </LazyDialog>
  );
}
