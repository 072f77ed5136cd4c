import { useState, type ReactNode } from 'react';

const COOKIE = 'vitrine-folded';

// A cookie and not storage: the choice is not the user's data, and outlives a sign-out.
const foldedGroups = (): string[] =>
  (/(?:^|; )vitrine-folded=([\w.]*)/.exec(document.cookie)?.[1] ?? '').split('.').filter(Boolean);

function setFolded(name: string, isFolded: boolean): void {
  const others = foldedGroups().filter((folded) => folded !== name);
  const value = [...others, ...(isFolded ? [name] : [])].join('.');
  document.cookie = `${COOKIE}=${value}; path=/ui/; max-age=31536000; samesite=strict`;
}

/** A group of filters that folds, and stays folded; one that is in use is shown. */
export function FilterGroup(props: {
  /** Letters, digits and `_`. */
  name: string;
  legend: string;
  isUsed: boolean;
  className?: string;
  children: ReactNode;
}) {
  const { name, legend, isUsed, className = '', children } = props;
  const [folded, setState] = useState(() => foldedGroups().includes(name));
  const isOpen = isUsed || !folded;
  return (
    <fieldset className={`field ${className}`}>
      <legend>
        <button
          type="button"
          className="fold"
          aria-expanded={isOpen}
          disabled={isUsed}
          onClick={() => {
            setFolded(name, isOpen);
            setState(isOpen);
          }}
        >
          {legend}
        </button>
      </legend>
      {isOpen && children}
    </fieldset>
  );
}
