import { useEffect, useState } from 'react';
import type { Pixel } from './projection';
import type { ModelScene } from './scene';
import type { Snap } from './snap';
import type { Pointed } from './useMeasuring';

/** Measured places over the model, which follow it as it turns. */
export function Marks(props: {
  scene: ModelScene;
  points: readonly Snap[];
  pointed: Pointed;
  label: string | undefined;
  isAngle: boolean;
}) {
  const { scene, points, pointed, label } = props;
  const [, setDrawings] = useState(0);
  useEffect(() => scene.onDraw(() => setDrawings((drawings) => drawings + 1)), [scene]);
  const pixels = points.flatMap((point) => scene.project(point.place) ?? []);
  const near = pointed.snap && scene.project(pointed.snap.place);
  const circle = pointed.snap?.circle && scene.project(pointed.snap.circle.centre);
  const [first, second] = pixels;
  const labelled = props.isAngle ? second : first && second && middleOf(first, second);
  return (
    <svg className="marks" aria-hidden="true">
      {pixels.slice(1).map((to, at) => {
        const from = pixels[at] ?? to;
        return <line key={at} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
      })}
      {pixels.map(({ x, y }, at) => (
        <circle key={at} cx={x} cy={y} r={5} />
      ))}
      {circle && <path className="centre" d={crossAt(circle, 6)} />}
      {pointed.cross && <path className="cross" d={crossAt(pointed.cross, 12)} />}
      {near && <circle className="near" cx={near.x} cy={near.y} r={7} />}
      {label !== undefined && labelled && (
        <text x={labelled.x} y={labelled.y - 10}>
          {label}
        </text>
      )}
    </svg>
  );
}

const middleOf = (from: Pixel, to: Pixel): Pixel => ({
  x: (from.x + to.x) / 2,
  y: (from.y + to.y) / 2,
});

const crossAt = ({ x, y }: Pixel, arm: number): string =>
  `M${x - arm} ${y}H${x + arm}M${x} ${y - arm}V${y + arm}`;
