import { Suspense, type ReactNode } from 'react';
import { texts } from '../texts';
import { Boundary } from './Boundary';
import { Cancel, Dialog } from './Dialog';
import { Failure } from './Failure';

/** A dialog whose code is loaded when it is opened; if that fails, only it is affected. */
export function Later({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <Boundary
      fallback={(error, again) => (
        <Dialog title={texts.errors.page} onClose={onClose}>
          <Failure error={error} reset={again} />
          <div className="acts">
            <Cancel text={texts.close} />
          </div>
        </Dialog>
      )}
    >
      <Suspense>{children}</Suspense>
    </Boundary>
  );
}
