import { useId, useState } from 'react';
import {
  type BufferAttribute,
  Color,
  type InterleavedBufferAttribute,
  type Points,
  PointsMaterial,
} from 'three';
import { viewerTexts } from '../texts/viewer';
import type { ModelScene } from './scene';
import { colorByHeight } from './unlit';

const SIZES = { min: 1, max: 12, step: 0.5 } as const;

type Colors = BufferAttribute | InterleavedBufferAttribute | undefined;

/** How a cloud was coloured by its file. */
interface Look {
  cloud: Points;
  colors: Colors;
  color: Color;
}

const materialOf = ({ material }: Points): PointsMaterial | null =>
  material instanceof PointsMaterial ? material : null;

/** How the points of a cloud are drawn: their size, and the colours of the file or by height. */
export function PointsTool(props: { scene: ModelScene; clouds: readonly Points[] }) {
  const { scene, clouds } = props;
  const id = useId();
  const [size, setSize] = useState(() => materialOf(clouds[0] as Points)?.size ?? SIZES.min);
  const [looks] = useState<Look[]>(() =>
    scene.coloured.map((cloud) => ({
      cloud,
      colors: cloud.geometry.attributes.color,
      color: new Color().copy(materialOf(cloud)?.color ?? new Color()),
    })),
  );
  const [byHeight, setByHeight] = useState(false);
  const draw = (pixels: number, isByHeight: boolean) => {
    setSize(pixels);
    setByHeight(isByHeight);
    if (isByHeight && !byHeight) colorByHeight(scene.coloured);
    else if (!isByHeight && byHeight) looks.forEach(restore);
    for (const cloud of clouds) {
      const material = materialOf(cloud);
      if (material) material.size = pixels;
    }
    scene.draw();
  };
  return (
    <section className="panel pair" aria-label={viewerTexts.points}>
      <label htmlFor={id}>{viewerTexts.pointSize}</label>
      <input
        id={id}
        type="range"
        {...SIZES}
        value={size}
        onChange={(event) => draw(Number(event.target.value), byHeight)}
      />
      {looks.length > 0 && (
        <label className="check">
          <input
            type="checkbox"
            checked={byHeight}
            onChange={(event) => draw(size, event.target.checked)}
          />
          {viewerTexts.byHeight}
        </label>
      )}
    </section>
  );
}

function restore({ cloud, colors, color }: Look): void {
  const material = materialOf(cloud);
  if (colors) cloud.geometry.setAttribute('color', colors);
  else cloud.geometry.deleteAttribute('color');
  if (!material) return;
  material.vertexColors = colors !== undefined;
  material.color.copy(color);
  material.needsUpdate = true;
}
