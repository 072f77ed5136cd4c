import { Suspense, type ReactNode } from 'react';
import { texts } from '../texts';
import { ErrorBoundary } from './ErrorBoundary';
import { CloseButton, Dialog } from './Dialog';
import { ErrorNotice } from './ErrorNotice';

/** A dialog whose code is loaded when it is opened; if that fails, only it is affected. */
export function LazyDialog({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <ErrorBoundary
      fallback={(error, again) => (
        <Dialog title={texts.errors.page} onClose={onClose}>
          <ErrorNotice error={error} onRetry={again} />
          <div className="acts">
            <CloseButton text={texts.close} />
          </div>
        </Dialog>
      )}
    >
      <Suspense>{children}</Suspense>
    </ErrorBoundary>
  );
}
