import { useState, type ReactNode } from 'react';
import { keepChoice, readChoice } from '../../api/choices';

const COOKIE = 'vitrine-folded';

const foldedGroups = (): string[] => readChoice(COOKIE) ?? [];

function setFolded(name: string, isFolded: boolean): void {
  const others = foldedGroups().filter((folded) => folded !== name);
  keepChoice(COOKIE, [...others, ...(isFolded ? [name] : [])]);
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
