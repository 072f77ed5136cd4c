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

const VIEW = {
  filePath: '/a.glb',
  createdBy: 'ann',
  dateCreated: '2026-01-31T10:00:00Z',
  pictureUrl: 'http://x/1',
};

test('saved views are listed with pictures, and one is deleted unless that is refused', async () => {
  const items = [
    { ...VIEW, viewId: 'a1', name: 'Front' },
    { ...VIEW, viewId: 'a2', name: 'Back', assetVersionId: '3' },
    { ...VIEW, viewId: 'a3', name: 'Back', versionId: 'v7' },
  ];
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
  const rows = screen.getAllByRole('listitem').map(({ textContent }) => textContent);
  expect(rows[0]).toMatch(/a\.glb · ann · Jan 31, 2026/);
  expect(rows[1]).toContain('a.glb, version 3 · ann');
  expect(rows[2]).toContain('a.glb, earlier content · ann');
  expect(screen.queryByLabelText('Find a view')).toBeNull();
  await expectAccessible();
  await user.click(await button('Delete the view Front'));
  await expectAccessible();
  await user.click(await button('Cancel'));
  expect(sent).toEqual([]);
  await user.click(await button('Delete the view Front'));
  await user.click(await button('Delete it'));
  await screen.findByText('Only their maker.');
  respond('delete', `${ASSET}/views/:id`, { message: 'x' });
  respond('get', `${ASSET}/views`, { items: [] });
  await user.click(await button('Delete it'));
  await screen.findByText('This asset has no saved views.');
});

test('of many saved views, one is found by its name or its file', async () => {
  const items = Array.from({ length: 200 }, (_, at) => ({
    ...VIEW,
    viewId: `a${at}`,
    name: at === 7 ? 'Front <b>' : `View ${at}`,
    filePath: at === 8 ? '/parts/Arm.glb' : '/a.glb',
  }));
  respond('get', `${ASSET}/views`, { items });
  const user = showButtons();
  await user.click(await button('Saved views'));
  const field = await screen.findByLabelText('Find a view');
  const names = () => screen.getAllByRole('link').map(({ textContent }) => textContent);
  await user.type(field, ' FRONT <b');
  expect(names()).toEqual(['Front <b>']);
  await user.clear(field);
  await user.type(field, 'parts/arm');
  expect(names()).toEqual(['View 8']);
  await user.type(field, 'x');
  await screen.findByText('No view has this name.');
});
