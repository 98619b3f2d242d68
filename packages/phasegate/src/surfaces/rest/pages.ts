import { createHash } from 'node:crypto';
import type { RunSummary } from '@phasegate/core';
import { goalAuthor } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import type { HumanSession } from './parts.ts';

/** A page with the headers it needs; nothing on it comes from elsewhere, and nothing on it is a script. */
export function pageResponse(page: Page, status = 200): Response {
  return new Response(htmlOf(page), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'cache-control': 'no-store',
      // Its address is told to nobody: it may be the path of a session, or hold a code.
      'referrer-policy': 'no-referrer',
    },
  });
}

/** What a page shows. `main` is HTML. */
export interface Page {
  readonly title: string;
  readonly main: string;
}

/** The form to sign in with. */
export function signInPage(problem: string | null): Page {
  const alert = problem === null ? '' : `<p role="alert">${escaped(problem)}</p>`;
  return {
    title: 'Sign in',
    main: `<h1>Phasegate</h1>
${alert}
<form method="post" action="/sign-in">
<label for="name">Name <small>(if several humans are set up)</small></label>
<input id="name" name="name" autocomplete="username" maxlength="64">
<label for="passphrase">Passphrase</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="current-password" required maxlength="1024">
<button type="submit">Sign in</button>
</form>
<p>Or open the link that <code>phasegate serve</code> printed on its terminal.</p>`,
  };
}

/** What someone who signed in sees first. */
export function homePage(session: HumanSession, runs: readonly RunSummary[]): Page {
  const rows = runs.map(
    ({ run, workflow, status, phase, holder, goal }) =>
      `<tr>${[run, workflow, status, phase ?? '', holder ?? '', goal === undefined ? '' : `${goalAuthor(goal)}: ${oneLine(goal.text)}`].map((cell) => `<td>${escaped(String(cell))}</td>`).join('')}</tr>`,
  );
  const table = `<table><thead><tr><th scope="col">Run</th><th scope="col">Workflow</th><th scope="col">Status</th><th scope="col">Phase</th><th scope="col">Agent</th><th scope="col">Goal</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>`;
  return {
    title: 'Runs',
    main: `<h1>Phasegate</h1>
<p>Signed in as <strong>${escaped(session.name)}</strong>. <a href="/docs" rel="noreferrer">API</a></p>
<p>This page has an address of its own, which nobody else should be given. Whatever changes something asks for the passphrase.</p>
<form method="post" action="sign-out"><button type="submit">Sign out</button></form>
<h2>Runs</h2>
${rows.length === 0 ? '<p>Nothing runs.</p>' : table}`,
  };
}

const STYLE = `body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
label,input{display:block}input{margin:.25rem 0 1rem;padding:.4rem;font:inherit;width:min(100%,24rem)}
button{font:inherit;padding:.4rem 1rem}[role=alert]{border-left:.3rem solid #b3261e;padding-left:.75rem}
table{border-collapse:collapse}th,td{text-align:left;padding:.25rem 1rem .25rem 0}`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

function htmlOf({ title, main }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Phasegate</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
