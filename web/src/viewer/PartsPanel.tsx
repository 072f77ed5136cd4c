import { useQuery } from '@tanstack/react-query';
import { Fragment, useMemo, useState } from 'react';
import type { Object3D } from 'three';
import { visibleName } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { InlineError } from '../ui/InlineError';
import { UserText } from '../ui/UserText';
import { isolatePart, listParts, showAllParts, type Part } from './parts';
import type { BuildingElement, Structure } from './structure';

const SHOWN = 200;

/** The parts of a model, each of which can be hidden or shown alone; of a building, with properties. */
export function PartsPanel({
  root,
  onChange,
  loadStructure,
}: {
  root: Object3D;
  onChange: () => void;
  loadStructure?: (() => Promise<Structure>) | undefined;
}) {
  const parts = useMemo(() => listParts(root), [root]);
  const [words, setWords] = useState('');
  // Visibility is a property of the nodes: this renders what they have.
  const [, setChanges] = useState(0);
  const structure = useQuery({
    queryKey: ['structure', root.uuid],
    queryFn: loadStructure,
    enabled: loadStructure !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const filter = words.trim().toLowerCase();
  const typeOf = ({ node }: Part) => structure.data?.(node)?.type ?? '';
  const matching = filter
    ? parts.filter((part) => `${part.name} ${typeOf(part)}`.toLowerCase().includes(filter))
    : parts;
  const change = (act: () => void) => {
    act();
    setChanges((changes) => changes + 1);
    onChange();
  };
  return (
    <section className="parts" aria-label={viewerTexts.parts}>
      <div className="acts">
        <input
          type="search"
          aria-label={viewerTexts.findPart}
          placeholder={viewerTexts.findPart}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <button type="button" className="small" onClick={() => change(() => showAllParts(root))}>
          {viewerTexts.allParts}
        </button>
      </div>
      {structure.error && <InlineError query={structure} />}
      <ul>
        {matching.slice(0, SHOWN).map(({ node, name, depth }) => (
          <li key={node.uuid} style={{ paddingLeft: `${filter ? 0 : Math.min(depth, 6)}rem` }}>
            <label className="check">
              <input
                type="checkbox"
                checked={node.visible}
                onChange={(event) => {
                  const isShown = event.target.checked;
                  change(() => (node.visible = isShown));
                }}
              />
              <UserText text={name} line />
            </label>
            <Properties name={name} element={structure.data?.(node)} />
            <button
              type="button"
              className="quiet small"
              aria-label={viewerTexts.onlyPartNamed(visibleName(name))}
              onClick={() => change(() => isolatePart(root, node))}
            >
              {viewerTexts.onlyPart}
            </button>
          </li>
        ))}
      </ul>
      {matching.length > SHOWN && <p>{viewerTexts.moreParts(matching.length - SHOWN)}</p>}
    </section>
  );
}

function Properties(props: { name: string; element: BuildingElement | null | undefined }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!props.element) return null;
  const { sets, ...attributes } = props.element;
  const own = Object.entries(viewerTexts.element).map(([name, label]): [string, string] => [
    label,
    attributes[name as keyof typeof attributes],
  ]);
  return (
    <>
      <button
        type="button"
        className="quiet small"
        aria-label={viewerTexts.propertiesOf(visibleName(props.name))}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {viewerTexts.properties}
      </button>
      {isOpen && (
        <div className="properties">
          {[{ name: '', values: own.filter(([, value]) => value) }, ...sets].map((set, at) => (
            <div key={at}>
              {set.name && (
                <strong>
                  <UserText text={set.name} />
                </strong>
              )}
              <dl>
                {set.values.map(([name, value], row) => (
                  <Fragment key={row}>
                    <dt>
                      <UserText text={name} />
                    </dt>
                    <dd>
                      <UserText text={value} />
                    </dd>
                  </Fragment>
                ))}
              </dl>
            </div>
          ))}
        </div>
      )}
    </>
  );
}
