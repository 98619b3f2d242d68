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
<p>This page has an address of its own, which nobody else should be given. Whatever changes something asks for the passphrase or a passkey.</p>
<form method="post" action="sign-out"><button type="submit">Sign out</button></form>
<h2>Runs</h2>
${rows.length === 0 ? '<p>Nothing runs.</p>' : table}`,
  };
}

const STYLE = `:root{color-scheme:light dark;--ground:#f6f7f9;--paper:#fff;--line:#8a93a3;--text:#161a22;--accent:#1f4fd8;--ink:#fff;--red:#b3221b}
@media(prefers-color-scheme:dark){:root{--ground:#0f1218;--paper:#161b24;--line:#7b879b;--text:#e8ecf3;--accent:#8fb0ff;--ink:#0b1430;--red:#ff9d95}}
body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:var(--ground);color:var(--text)}
main{max-width:60rem;margin:8vh auto 2rem;padding:0 1rem}main:has(#passphrase){max-width:24rem}
form:has(#passphrase){background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:1.25rem}
h1{letter-spacing:-.01em}label{font-weight:600}label,input{display:block}
input{box-sizing:border-box;width:100%;margin:.25rem 0 1rem;padding:.5rem;font:inherit;border:1px solid var(--line);border-radius:6px;background:var(--paper);color:var(--text)}
button{font:inherit;font-weight:600;padding:.45rem 1.1rem;border:0;border-radius:6px;background:var(--accent);color:var(--ink)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}a{color:var(--accent)}
[role=alert]{border-left:.3rem solid var(--red);padding-left:.75rem}
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
