import { texts } from '../texts';
import { Cancel, Dialog } from './Dialog';

/** What keys and the mouse do. */
export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={texts.keys.title} onClose={onClose}>
      {texts.keys.parts.map(([part, acts]) => (
        <section key={part} className="keys">
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
      <div className="acts">
        <Cancel text={texts.close} />
      </div>
    </Dialog>
  );
}
