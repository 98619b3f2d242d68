import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Frame } from './frame/Frame.tsx';
import { Empty, ProblemNote, Waiting } from './parts/Told.tsx';
import { filterFrom } from './runs/filterFrom.ts';
import { RunsPage } from './runs/RunsPage.tsx';

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NoSuchPage,
  errorComponent: ({ error, reset }) => <ProblemNote error={error} again={reset} />,
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: RunsPage,
  validateSearch: filterFrom,
});
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run',
  component: lazyRouteComponent(() => import('./run/RunPage.tsx'), 'RunPage'),
});
const decisions = createRoute({
  getParentRoute: () => root,
  path: '/decisions',
  component: lazyRouteComponent(() => import('./decisions/InboxPage.tsx'), 'InboxPage'),
});
const decision = createRoute({
  getParentRoute: () => root,
  path: '/decisions/$run',
  component: lazyRouteComponent(() => import('./decisions/DecisionPage.tsx'), 'DecisionPage'),
});
const workflows = createRoute({
  getParentRoute: () => root,
  path: '/workflows',
  component: lazyRouteComponent(() => import('./workflows/WorkflowsPage.tsx'), 'WorkflowsPage'),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/$workflow',
  component: lazyRouteComponent(() => import('./workflows/WorkflowPage.tsx'), 'WorkflowPage'),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  component: lazyRouteComponent(() => import('./agents/AgentsPage.tsx'), 'AgentsPage'),
});
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  component: lazyRouteComponent(() => import('./audit/AuditPage.tsx'), 'AuditPage'),
});
const people = createRoute({
  getParentRoute: () => root,
  path: '/people',
  component: lazyRouteComponent(() => import('./people/PeoplePage.tsx'), 'PeoplePage'),
});

/** The pages. What stands behind the `#` is theirs, so the server knows one address only, which nobody is told. */
export const router = createRouter({
  routeTree: root.addChildren([runs, run, decisions, decision, workflows, workflow, agents, audit, people]),
  history: createHashHistory(),
  defaultPendingComponent: () => <Waiting what="this page" />,
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NoSuchPage() {
  return (
    <Empty page title="There is no such page">
      <p>The address leads nowhere. Perhaps it was cut when it was copied.</p>
      <p>
        <Link to="/" className="button">
          All runs
        </Link>
      </p>
    </Empty>
  );
}
