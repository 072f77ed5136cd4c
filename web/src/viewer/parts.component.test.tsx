// The panel of the parts of a model, and views in which many are hidden.
import { screen, waitFor } from '@testing-library/react';
import { Group, Mesh, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { button, dialog, expectAccessible, renderPart } from '../testing/page';
import { ASSET, respond, sent } from '../testing/server';
import { PartsPanel } from './PartsPanel';
import type { ShownModel } from './scene';
import { ViewButtons } from './ViewButtons';

test('a part is found, hidden and shown alone', async () => {
  const [arm, base] = ['arm <b>', 'base'].map((name) => Object.assign(new Mesh(), { name }));
  const root = new Group().add(arm as Mesh, base as Mesh);
  const redraw = vi.fn();
  const user = renderPart(<PartsPanel root={root} onChange={redraw} />);
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

/** The buttons of a model of 1,500 parts, of which every other one is hidden. */
function showButtons() {
  const parts = Array.from({ length: 1500 }, (_, at) =>
    Object.assign(new Mesh(), { visible: at % 2 === 0 }),
  );
  const scene = {
    host: document.body,
    camera: { position: new Vector3(1, 2, 3) },
    controls: { target: new Vector3() },
    plane: null,
    picture: () => Promise.resolve(new Blob(['png'])),
  };
  const shown = { scene, loaded: { scene: new Group().add(...parts) } } as unknown as ShownModel;
  const place = { databaseId: 'library', assetId: 'x1' };
  return renderPart(<ViewButtons shown={shown} place={place} file={{ path: '/a.glb', size: 1 }} />);
}

test('a view that is too long for a link is saved with a picture, and its link is short', async () => {
  vi.stubGlobal('createImageBitmap', () => Promise.resolve({ width: 512, height: 300 }));
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  vi.spyOn(HTMLCanvasElement.prototype, 'toDataURL').mockReturnValue('data:image/png;base64,aGk=');
  const paths: string[] = [];
  respond('put', `${ASSET}/views/:id`, ({ request }) => {
    paths.push(new URL(request.url).pathname);
    return Response.json({ message: 'x' });
  });
  const user = showButtons();
  await user.click(await button('Copy view'));
  await dialog();
  await expectAccessible();
  await user.click(await button('Save and copy link'));
  await screen.findByText('Enter a name.');
  expect(sent).toEqual([]);
  await user.type(screen.getByLabelText('Name'), ' Half of it ');
  await user.click(await button('Save and copy link'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const [{ body } = { body: null }] = sent;
  expect(body).toMatchObject({ name: 'Half of it', filePath: '/a.glb', picture: 'aGk=' });
  const view = (body as { view: string }).view;
  expect(view).toMatch(/^c1_2_3_0_0_0~h1500_1_3_/);
  const id = paths[0]?.split('/').at(-1) ?? '';
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  await waitFor(async () =>
    expect(await navigator.clipboard.readText()).toBe(
      `${location.origin}/databases/library/assets/x1?file=%2Fa.glb&view=${id}`,
    ),
  );
});

test('saved views are listed with pictures, and one is deleted unless that is refused', async () => {
  const item = { filePath: '/a.glb', createdBy: 'ann', dateCreated: '', pictureUrl: 'http://x/1' };
  const items = [{ ...item, viewId: 'a1', name: 'Front' }];
  respond('get', `${ASSET}/views`, { items });
  respond(
    'delete',
    `${ASSET}/views/:id`,
    { code: 'PermissionDenied', message: 'Only their maker' },
    { status: 403, once: true },
  );
  const user = showButtons();
  await user.click(await button('Saved views'));
  const link = await screen.findByRole('link', { name: 'Front' });
  expect(link.getAttribute('href')).toContain('?file=%2Fa.glb&view=a1');
  await expectAccessible();
  await user.click(await button('Delete the view Front'));
  await screen.findByText('Only their maker.');
  respond('delete', `${ASSET}/views/:id`, { message: 'x' });
  respond('get', `${ASSET}/views`, { items: [] });
  await user.click(await button('Delete the view Front'));
  await screen.findByText('This asset has no saved views.');
});
