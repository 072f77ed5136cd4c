// Types and properties of the elements of a building, in the panel of its parts.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Group, Mesh } from 'three';
import { expect, test } from 'vitest';
import { button, expectAccessible } from '../testing/page';
import { viewerTexts } from '../texts/viewer';
import { PartsPanel } from './PartsPanel';
import { parseStructure, type Structure } from './structure';

async function compressed(text: string, mostBytes?: number): Promise<Structure> {
  const stream = new Response(text).body?.pipeThrough(new CompressionStream('gzip'));
  return parseStructure(await new Response(stream).arrayBuffer(), mostBytes);
}

/** A wall of two materials on a storey, and what its structure says of it. */
function show(elements: unknown, sets: unknown = []) {
  const wall = Object.assign(new Group(), { name: 'Wand', userData: { ifcId: 50 } });
  wall.add(Object.assign(new Mesh(), { name: 'mesh_1' }));
  const storey = Object.assign(new Group(), { name: 'First', userData: { ifcId: 10 } });
  const root = new Group().add(storey.add(wall));
  const load = () => compressed(JSON.stringify({ elements, sets }));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <PartsPanel root={root} onChange={() => undefined} loadStructure={load} />
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

test('the properties of the part that is clicked are shown', async () => {
  const wall = { type: 'IfcWall', typeName: 'A', storey: 'First', globalId: '1V', sets: [0] };
  const values = { External: true, Load: 1234.5, 'Name <b>': 'x' };
  const user = show({ 10: { type: 'IfcBuildingStorey' }, 50: wall }, [{ name: 'Common', values }]);
  await user.click(await button('Properties of Wand'));
  const rows = screen.getAllByRole('term').map(({ textContent }) => textContent);
  expect(rows).toEqual(['Class', 'Type', 'Storey', 'GlobalId', 'External', 'Load', 'Name <b>']);
  const shown = screen.getAllByRole('definition').map(({ textContent }) => textContent);
  expect(shown).toEqual(['IfcWall', 'A', 'First', '1V', 'Yes', '1,234.5', 'x']);
  expect(screen.getByText('Common')).toBeTruthy();
  await expectAccessible();
  await user.type(screen.getByLabelText('Find a part'), 'ifcwall');
  const items = within(screen.getByRole('list')).getAllByRole('checkbox');
  expect(items.length, 'by its class, without its meshes').toBe(1);
});

test('an element may be anything, and nothing of it is drawn but text', async () => {
  const user = show({ 50: { type: [1], sets: { a: 9, b: 0 } } }, [{ name: {}, values: ['x', {}] }]);
  await user.click(await button('Properties of Wand'));
  expect(screen.getAllByRole('definition').map(({ textContent }) => textContent)).toEqual([
    'x',
    '',
  ]);
});

test.each([
  ['no JSON', () => compressed('{')],
  ['not compressed', () => parseStructure(new ArrayBuffer(8))],
  ['larger than it may be', () => compressed('{"elements": {}}', 15)],
])('a structure that is %s has a reason', async (_, structure) => {
  await expect(structure()).rejects.toThrow(viewerTexts.noProperties);
});
