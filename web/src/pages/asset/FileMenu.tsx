import {
  useLayoutEffect,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
} from 'react';
import { flushSync } from 'react-dom';
import { filesTexts } from '../../texts/files';
import { visibleName } from '../../texts/formats';
import { allowedActs, isFolder, type Act, type Subject } from './fileChanges';

/** Places a menu below its button, or above where the window ends: the list would cut it off. */
function place(menu: HTMLElement | null): void {
  const button = menu?.previousElementSibling?.getBoundingClientRect();
  if (!menu || !button) return;
  const isBelow = button.bottom + menu.offsetHeight <= innerHeight;
  const top = isBelow ? button.bottom : Math.max(0, button.top - menu.offsetHeight);
  menu.style.top = `${top}px`;
  menu.style.left = `${Math.max(0, button.right - menu.offsetWidth)}px`;
}

/** What a menu offers beside changes: these need no dialog. */
export type Transfer = 'download' | 'upload' | 'replace' | 'versions' | 'zip';

export interface MenuActions {
  onTransfer: (transfer: Transfer, subject: Subject) => void;
  /** Absent where the caller may not change files. */
  onAct: ((act: Act, subject: Subject, folder?: string) => void) | undefined;
}

const WRITES: readonly Transfer[] = ['upload', 'replace'];

function menuItems(subject: Subject, { onTransfer, onAct }: MenuActions) {
  const transfers: [Transfer, string][] = isFolder(subject)
    ? [
        ['zip', filesTexts.download],
        ['upload', filesTexts.uploadHere],
      ]
    : subject.isArchived
      ? []
      : [
          ['download', filesTexts.download],
          ['replace', filesTexts.uploadVersion],
          ['versions', filesTexts.versions],
        ];
  const allowed = onAct ? transfers : transfers.filter(([transfer]) => !WRITES.includes(transfer));
  const changes = onAct ? allowedActs(subject).map((act) => ({ act, onAct })) : [];
  return [
    ...allowed.map(([transfer, name]) => ({ name, act: () => onTransfer(transfer, subject) })),
    ...changes.map(({ act, onAct }) => ({
      name: filesTexts.acts[act],
      act: () => onAct(act, subject),
    })),
  ];
}

/** Opens the menu of a row by its right button, or by the key for it. */
export function openContextMenu(event: MouseEvent<HTMLElement>): void {
  const menu = event.currentTarget.querySelector<HTMLElement>(':scope > .file-menu > summary');
  if (!menu) return;
  event.preventDefault();
  event.stopPropagation();
  menu.focus();
  if (!menu.closest('details')?.open) menu.click();
}

/** What can be done with a file or folder of the tree. One menu is open at a time. */
export function FileMenu(props: MenuActions & { subject: Subject }) {
  const { subject } = props;
  const label = props.onAct ? filesTexts.change : filesTexts.menuOf;
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!open) return;
    const follow = () => place(menu.current);
    follow();
    const ending = new AbortController();
    const options = { capture: true, passive: true, signal: ending.signal };
    for (const event of ['scroll', 'resize']) addEventListener(event, follow, options);
    return () => ending.abort();
  }, [open]);
  const items = menuItems(subject, props);
  if (!items.length) return null;
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
    const at = acts.findIndex((button) => button === document.activeElement);
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
        aria-label={label(visibleName(subject.path.replace(/^\/|\/$/g, '')))}
      >
        <span aria-hidden="true">⋯</span>
      </summary>
      {open && (
        <div className="choices" ref={menu}>
          {items.map(({ name, act }) => (
            <button
              key={name}
              type="button"
              className="quiet"
              onClick={() => {
                close();
                // The dialog that opens now returns the focus to where it is now.
                opener.current?.focus();
                act();
              }}
            >
              {name}
            </button>
          ))}
        </div>
      )}
    </details>
  );
}
