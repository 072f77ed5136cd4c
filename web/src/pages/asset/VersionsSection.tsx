import { Suspense, useState } from 'react';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { versionsTexts } from '../../texts/versions';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { lazyComponent } from '../../ui/lazyComponent';

const Versions = lazyComponent(() => import('./Versions'), 'Versions');

export interface VersionsProps {
  place: Place;
  /** The file that is shown, which is shown in another version, too. */
  path: string | undefined;
  mayWrite: boolean;
}

/** The versions of an asset, which are requested once someone wants to see them. */
export function VersionsSection(props: VersionsProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className="versions" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h2>{versionsTexts.title}</h2>
      </summary>
      {open && (
        <ErrorBoundary fallback={(error, retry) => <ErrorNotice error={error} onRetry={retry} />}>
          <Suspense fallback={<p className="faint">{texts.loading}</p>}>
            <Versions {...props} />
          </Suspense>
        </ErrorBoundary>
      )}
    </details>
  );
}
