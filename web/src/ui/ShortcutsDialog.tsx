import { texts } from '../texts';
import { keysTexts } from '../texts/keys';
import { CloseButton, Dialog } from './Dialog';

/** What keys and the mouse do. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={texts.header.keys} onClose={onClose}>
      {/* It gets the focus, so that a narrow window shows its beginning and keys scroll it. */}
      <div className="keys stack" role="group" aria-label={texts.header.keys} tabIndex={0}>
        {keysTexts.parts.map(([part, acts]) => (
          <section key={part}>
            <h3>{part}</h3>
            <dl>
              {acts.map(([act, keys]) => (
                <div key={act}>
                  <dt>{act}</dt>
                  <dd>{keys}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="acts">
        <CloseButton text={texts.close} />
      </div>
    </Dialog>
  );
}
