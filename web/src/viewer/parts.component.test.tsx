// The panel of the parts of a model.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Group, Mesh } from 'three';
import { expect, test, vi } from 'vitest';
import { button, expectAccessible } from '../testing/page';
import { PartsPanel } from './PartsPanel';

test('a part is found, hidden and shown alone', async () => {
  const [arm, base] = ['arm <b>', 'base'].map((name) => Object.assign(new Mesh(), { name }));
  const root = new Group().add(arm as Mesh, base as Mesh);
  const redraw = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <PartsPanel root={root} onChange={redraw} />
    </QueryClientProvider>,
  );
  const user = userEvent.setup();
  await user.click(screen.getByLabelText('base'));
  expect([arm?.visible, base?.visible]).toEqual([true, false]);
  await user.click(await button('Show only base'));
  expect([arm?.visible, base?.visible]).toEqual([false, true]);
  expect(screen.getByLabelText('arm <b>')).toHaveProperty('checked', false);
  await user.type(screen.getByLabelText('Find a part'), 'ARM');
  expect(screen.queryByLabelText('base')).toBeNull();
  await expectAccessible();
  await user.click(await button('Show all'));
  expect([arm?.visible, base?.visible]).toEqual([true, true]);
  expect(redraw).toHaveBeenCalledTimes(3);
});
