/** The start of the page: it begins by asking who is logged in. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createPageQueries } from './app/page-queries.ts';
import { router } from './app/router.tsx';
import { SessionGate } from './app/session-gate.tsx';
import { applyTheme } from './app/theme.ts';
import { Language, nameLanguage } from './i18n/index.tsx';
import { Toasts } from './ui/toast.tsx';
import './ui/tokens.css';
import './ui/base.css';

applyTheme();
nameLanguage();

const root = document.getElementById('root');
if (root === null) throw new Error('the document has no root');

createRoot(root).render(
  <StrictMode>
    <Language>
      <QueryClientProvider client={createPageQueries()}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
        <Toasts />
      </QueryClientProvider>
    </Language>
  </StrictMode>,
);
