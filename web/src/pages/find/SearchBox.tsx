import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { hasSuggestions, suggestionsQuery } from '../../api/search';
import { texts } from '../../texts';
import { useShortcut } from '../../ui/useShortcut';
import { useMediaQuery } from '../../ui/useMediaQuery';
import { parseSearch } from './findState';
import { recentAssets } from './recentAssets';
import { useChangeSearch } from './useChangeSearch';

interface Option {
  key: string;
  text: string;
  note: string;
  choose: () => void;
}

/** A key after a pause searches at once; of keys in quick succession, the last one after this. */
const WAIT = 80;

/** The search: results follow each key on the find page; suggestions lie below the box. */
export function SearchBox() {
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  const change = useChangeSearch();
  const location = useRouterState({ select: (state) => state.location });
  const onFind = location.pathname === '/';
  const shown = onFind ? (parseSearch(location.search).q ?? '') : '';
  const [typed, setTyped] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const value = typed ?? shown;
  const options = useOptions(value, open);
  const { active, setActive, onKey } = useOptionKeys(options.length, open, setOpen);
  const wide = useMediaQuery('(min-width: 34rem)');
  useShortcut('/', () => {
    box.current?.focus();
    box.current?.select();
  });

  const recordKey = useLiveSearch(typed, shown, onFind);
  const submit = () => {
    setOpen(false);
    const option = options[active];
    if (option) {
      choose(option);
      return;
    }
    const q = value.trim() || undefined;
    change((before) => ({ ...before, q }));
    setTyped(null);
  };
  const choose = (option: Option) => {
    option.choose();
    setTyped(null);
    setOpen(false);
    setActive(-1);
  };
  const isListed = open && options.length > 0;
  return (
    <search className="search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <input
          ref={box}
          type="search"
          {...comboBox(id, isListed, active)}
          autoComplete="off"
          placeholder={wide ? texts.find.placeholder : texts.find.shortPlaceholder}
          maxLength={5000}
          value={value}
          onChange={(event) => {
            recordKey(event.timeStamp);
            setTyped(event.target.value);
            setOpen(true);
            setActive(-1);
          }}
          onFocus={() => setOpen(value === '')}
          onBlur={() => {
            setOpen(false);
            // What was typed on another page is kept; here the address holds it.
            if (onFind && typed === shown) setTyped(null);
          }}
          onClick={() => setOpen(true)}
          onKeyDown={onKey}
        />
      </form>
      <OptionList
        id={id}
        label={value ? texts.find.suggestions : texts.find.recent}
        options={options}
        active={active}
        isOpen={isListed}
        onChoose={choose}
      />
    </search>
  );
}

/** The attributes of a field that a list of options belongs to. */
const comboBox = (id: string, isListed: boolean, active: number) =>
  ({
    role: 'combobox',
    'aria-label': texts.find.search,
    'aria-expanded': isListed,
    'aria-controls': `${id}-list`,
    'aria-activedescendant': isListed && active >= 0 ? `${id}-${active}` : undefined,
    'aria-autocomplete': 'list',
    'aria-keyshortcuts': '/',
  }) as const;

/** The active option, which arrow keys change; -1 for the field itself. */
function useOptionKeys(count: number, open: boolean, setOpen: (open: boolean) => void) {
  const [active, setActive] = useState(-1);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const places = count + 1;
      setActive((before) => ((before + 1 + step + places) % places) - 1);
    } else if (event.key === 'Escape') {
      if (open) event.preventDefault();
      setOpen(false);
      setActive(-1);
    }
  };
  return { active, setActive, onKey };
}

/** Searches for what is typed on the find page; returns a function to call with the time of a key. */
function useLiveSearch(typed: string | null, shown: string, onFind: boolean) {
  const change = useChangeSearch();
  const keys = useRef({ last: -WAIT, wait: 0 });
  useEffect(() => {
    if (typed === null || !onFind || typed === shown) return;
    const timer = setTimeout(() => {
      // Only the words change with each key: filters that were set before are kept for Back.
      change((before) => ({ ...before, q: typed || undefined }), { replace: shown !== '' });
    }, keys.current.wait);
    return () => clearTimeout(timer);
  }, [typed, onFind, shown, change]);
  return (time: number) => {
    const quick = time - keys.current.last < WAIT;
    keys.current = { last: time, wait: quick ? WAIT : 0 };
  };
}

function OptionList(props: {
  id: string;
  label: string;
  options: Option[];
  active: number;
  isOpen: boolean;
  onChoose: (option: Option) => void;
}) {
  const { id } = props;
  return (
    <ul
      id={`${id}-list`}
      role="listbox"
      aria-label={props.label}
      className="options"
      hidden={!props.isOpen}
    >
      {props.options.map((option, at) => (
        <li
          key={option.key}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === props.active}
          onPointerDown={(event) => {
            event.preventDefault();
            props.onChoose(option);
          }}
        >
          <span dir="auto">{option.text}</span>
          <small>{option.note}</small>
        </li>
      ))}
    </ul>
  );
}

function useOptions(value: string, open: boolean): Option[] {
  const navigate = useNavigate();
  const change = useChangeSearch();
  const q = value.trim();
  const query = useQuery({ ...suggestionsQuery(q), enabled: open && hasSuggestions(q) });
  if (!q) {
    return recentAssets().map((asset) => ({
      key: `${asset.databaseId}/${asset.assetId}`,
      text: asset.name,
      note: asset.databaseId,
      choose: () =>
        void navigate({
          to: '/databases/$databaseId/assets/$assetId',
          params: { databaseId: asset.databaseId, assetId: asset.assetId },
        }),
    }));
  }
  if (!hasSuggestions(q)) return [];
  return (query.data?.suggestions ?? []).slice(0, 8).map((suggestion) => ({
    key: `${suggestion.kind}/${suggestion.text}`,
    text: suggestion.text,
    note: texts.find.kinds[suggestion.kind],
    choose: () => change((before) => ({ ...before, q: suggestion.text })),
  }));
}
