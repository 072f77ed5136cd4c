import { useRef, useState, type FocusEvent, type KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import { filesTexts } from '../../texts/files';
import { replaceBidiMarks } from '../../texts/formats';
import { allowedActs, type Act, type Subject } from './fileChanges';

/** A menu below the last rows would be outside the list, or the window. */
const bringIntoView = (menu: HTMLElement | null) => menu?.scrollIntoView({ block: 'nearest' });

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
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && open) {
      close();
      opener.current?.focus();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    // At once: the acts are in the document only while the menu is open.
    flushSync(() => setOpen(true));
    const acts = [...event.currentTarget.querySelectorAll('button')];
    const at = acts.findIndex((each) => each === document.activeElement);
    const next = at < 0 && step < 0 ? -1 : (at + step) % acts.length;
    acts.at(next)?.focus();
  };
  return (
    <details
      className="file-menu"
      name="file-menu"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onBlur={leave}
      onKeyDown={onKey}
    >
      <summary
        ref={opener}
        data-path={subject.path}
        aria-label={filesTexts.change(replaceBidiMarks(subject.path.replace(/^\/|\/$/g, '')))}
      >
        <span aria-hidden="true">⋯</span>
      </summary>
      {open && (
        <div className="choices" ref={bringIntoView}>
          {allowedActs(subject).map((act) => (
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
              {filesTexts.acts[act]}
            </button>
          ))}
        </div>
      )}
    </details>
  );
}
