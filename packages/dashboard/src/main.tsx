import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Problem } from './api/ask.ts';
import { keepFresh } from './api/keepFresh.ts';
import { FreshContext } from './frame/live.tsx';
import { applyTheme, chosenTheme } from './frame/theme.ts';
import { router } from './routes.tsx';
import './style.css';

applyTheme(chosenTheme());

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // What happens is told by the stream of events: nothing is asked again without a reason.
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      // Nobody answered, or somebody asked too often: both pass.
      retry: (failures, error) =>
        failures < 2 && error instanceof Problem && (error.status === 0 || error.status === 429),
      retryDelay: 1000,
    },
  },
});
const fresh = keepFresh(client);

const place = document.getElementById('app');
if (place === null) throw new TypeError('the page has no place for the app');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <FreshContext value={fresh}>
        <RouterProvider router={router} />
      </FreshContext>
    </QueryClientProvider>
  </StrictMode>,
);
