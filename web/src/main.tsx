import './ui/styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries';
import { router } from './router';
import { startSession } from './session/signIn';
import { applyTheme, chosenTheme } from './ui/theme';

applyTheme(chosenTheme());
startSession((path) => router.history.replace(path));

const root = document.getElementById('root');
if (!root) throw new Error('The page has no element with the id root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
