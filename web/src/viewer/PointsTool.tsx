import { useId, useState } from 'react';
import { viewerTexts } from '../texts/viewer';
import type { Look, PointLooks } from './pointLooks';

const SIZES = { min: 1, max: 12, step: 0.5 } as const;

/** How points are drawn: their size and their colours. */
export function PointsTool({ looks, draw }: { looks: PointLooks; draw: () => void }) {
  const id = useId();
  const [size, setSize] = useState(looks.size);
  const [look, setLook] = useState(looks.look);
  const { choices } = looks;
  const show = (shown: Look, pixels: number) => {
    setSize(pixels);
    setLook(shown);
    looks.show(shown, pixels);
    draw();
  };
  return (
    <section className="panel pair" aria-label={viewerTexts.points}>
      <label htmlFor={id}>{viewerTexts.pointSize}</label>
      <input
        id={id}
        type="range"
        {...SIZES}
        value={size}
        onChange={(event) => show(look, Number(event.target.value))}
      />
      {choices.length > 1 && (
        <label>
          {viewerTexts.pointColors}{' '}
          <select
            value={choices.includes(look) ? look : 'height'}
            onChange={(event) => show(event.target.value as Look, size)}
          >
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {viewerTexts.pointLooks[choice]}
              </option>
            ))}
          </select>
        </label>
      )}
    </section>
  );
}
