import { useRef, useState, type FocusEvent } from 'react';
import { texts } from '../../texts';
import { legible } from '../../ui/formats';
import { actsOf, type Act, type Subject } from './changes';

/** What can be done with a file or folder of the tree. One menu is open at a time. */
export function FileMenu(props: { subject: Subject; onChoose: (act: Act) => void }) {
  const { subject, onChoose } = props;
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLElement>(null);
  const close = () => setOpen(false);
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    // Safari gives a pressed button no focus, so that the focus goes nowhere.
    if (relatedTarget && !currentTarget.contains(relatedTarget)) close();
  };
  return (
    <details
      className="file-menu"
      name="file-menu"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        close();
        opener.current?.focus();
      }}
    >
      <summary
        ref={opener}
        data-path={subject.path}
        aria-label={texts.files.change(legible(subject.path.replace(/^\/|\/$/g, '')))}
      >
        <span aria-hidden="true">⋯</span>
      </summary>
      {open && (
        <div className="choices">
          {actsOf(subject).map((act) => (
            <button
              key={act}
              type="button"
              className="quiet"
              onClick={() => {
                close();
                // The dialog that opens now returns the focus to where it is now.
                opener.current?.focus();
                onChoose(act);
              }}
            >
              {texts.files.acts[act]}
            </button>
          ))}
        </div>
      )}
    </details>
  );
}
