import { useMemo, useState } from 'react';
import type { Object3D } from 'three';
import { visibleName } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { UserText } from '../ui/UserText';
import { isolatePart, listParts, showAllParts } from './parts';

const SHOWN = 200;

/** The parts of a model, each of which can be hidden or shown alone. */
export function PartsPanel({ root, onChange }: { root: Object3D; onChange: () => void }) {
  const parts = useMemo(() => listParts(root), [root]);
  const [words, setWords] = useState('');
  // Visibility is a property of the nodes: this renders what they have.
  const [, setChanges] = useState(0);
  const filter = words.trim().toLowerCase();
  const matching = filter ? parts.filter(({ name }) => name.toLowerCase().includes(filter)) : parts;
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
