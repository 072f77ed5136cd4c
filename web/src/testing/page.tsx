// The whole page at an address, as a signed-in user has it.
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterContextProvider, RouterProvider } from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import type { ReactNode } from 'react';
import { expect } from 'vitest';
import { queryClient } from '../api/queries';
import { router } from '../router';
import { clearSession, signIn } from '../session/session';
import { searches, sent } from './server';

/** The session of the user whom the server of tests knows. */
export const SIGNED_IN = { id: 'session-1', user: 'admin', byProvider: false };

export async function openPage(path: string, isSignedIn = true) {
  clearSession();
  queryClient.clear();
  sent.length = searches.length = 0;
  localStorage.clear();
  if (isSignedIn) signIn(SIGNED_IN);
  router.history.push(`/ui${path}`);
  // That of the page before waits for a page that is no longer there.
  router.startTransition = (update) => {
    update();
    return Promise.resolve(true);
  };
  await router.load();
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

/** A part of the page by itself, with what it needs of the whole. */
export function renderPart(part: ReactNode) {
  sent.length = 0;
  render(
    <QueryClientProvider client={queryClient}>
      <RouterContextProvider router={router}>{part}</RouterContextProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

export const button = (name: string | RegExp, inside: HTMLElement = document.body) =>
  within(inside).findByRole('button', { name });

/** Fails for each serious finding of axe, except those that need a layout, such as contrast. */
export async function expectAccessible() {
  const { violations } = await axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
    rules: { 'color-contrast': { enabled: false }, 'target-size': { enabled: false } },
  });
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))).toEqual([]);
}

/** The dialog that is open, once it is. */
export const dialog = () => screen.findByRole('dialog');
