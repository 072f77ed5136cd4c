import { useState } from 'react';
import type { Object3D } from 'three';
import { formatNumber } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { UserText } from '../ui/UserText';
import { listMaterials } from './materials';

const SHOWN = 200;

/** The materials of a model with their colours and textures. */
export function MaterialsPanel({ root }: { root: Object3D }) {
  const [rows] = useState(() => listMaterials(root));
  return (
    <section className="panel materials" aria-label={viewerTexts.materials} tabIndex={0}>
      <ul>
        {rows.slice(0, SHOWN).map(({ material, name, color, textures }, at) => (
          <li key={material.uuid}>
            {color !== null && (
              <svg viewBox="0 0 1 1" role="img" aria-label={color}>
                <rect width="1" height="1" fill={color} />
              </svg>
            )}
            <span>
              <UserText text={name || viewerTexts.unnamedMaterial(at + 1)} line />
              {textures.map((texture) => (
                <span key={texture.name} className="faint line">
                  {viewerTexts.textures[texture.name] ?? texture.name} {formatNumber(texture.width)}{' '}
                  × {formatNumber(texture.height)}
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
      {rows.length > SHOWN && <p>{viewerTexts.moreMaterials(rows.length - SHOWN)}</p>}
    </section>
  );
}
