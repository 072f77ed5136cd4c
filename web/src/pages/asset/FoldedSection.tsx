import { Suspense, useState, type ReactNode } from 'react';
import { texts } from '../../texts';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { ErrorNotice } from '../../ui/ErrorNotice';

/** A section that is loaded, with its code, once someone wants to see it. */
export function FoldedSection(props: { title: string; isOpen?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(props.isOpen ?? false);
  return (
    <details className="folded" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h2>{props.title}</h2>
      </summary>
      {open && (
        <ErrorBoundary fallback={(error, retry) => <ErrorNotice error={error} onRetry={retry} />}>
          <Suspense fallback={<p className="faint">{texts.loading}</p>}>{props.children}</Suspense>
        </ErrorBoundary>
      )}
    </details>
  );
}
