import { createHash } from 'node:crypto';
import { type Json, type JsonObject, own } from '@phasegate/core';
import { type Field, type Group, groupsOf, type Operation, type Shape, shapesOf } from './apiReference.ts';

export { apiReferenceMarkdown } from './apiReference.ts';

/** The answer with the page of the document, as `apiPageHtml` makes it. */
export function apiPage(html: Uint8Array<ArrayBuffer>): Response {
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'cache-control': 'no-store',
    },
  });
}

/** The page of the document: made here, without a script, and with nothing from elsewhere. */
export function apiPageHtml(document: JsonObject): string {
  const info = own(document, 'info');
  const groups = groupsOf(document);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · Phasegate</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Phasegate API <small>${escaped(String(own(info, 'version') ?? ''))}</small></h1>
${prose(String(own(info, 'description') ?? ''))}
<p>The same for machines: <a href="/openapi.json">/openapi.json</a></p>
</header>
<nav aria-label="Routes">${groups.map(linksOf).join('')}</nav>
<main>
${groups.map(section).join('\n')}
<section id="schemas"><h2>Schemas</h2>
${shapesOf(document).map(shapeSection).join('\n')}
</section>
</main>
</body>
</html>
`;
}

function linksOf({ name, operations }: Group): string {
  const links = operations.map(
    ({ id, method, path }) =>
      `<li><a href="#${escaped(id)}">${badge(method)} ${escaped(bare(path))}</a></li>`,
  );
  return `<h2>${escaped(name)}</h2><ul>${links.join('')}</ul>`;
}

function section({ name, description, operations }: Group): string {
  return `<section><h2>${escaped(name)}</h2><p>${escaped(description)}.</p>${operations.map(article).join('\n')}</section>`;
}

function article(operation: Operation): string {
  const { id, method, path, summary, description, parameters, body, answers } = operation;
  const rows = answers.map(
    ({ status, description: when, shapes }) =>
      `<tr><td><code>${escaped(status)}</code></td><td>${inline(when)}</td><td>${shapes.map(linkTo).join(' or ')}</td></tr>`,
  );
  return `<article id="${escaped(id)}">
<h3>${badge(method)} <code>${escaped(path)}</code></h3>
<p><strong>${escaped(summary)}</strong></p>
${prose(description)}
${parameters.length === 0 ? '' : `<h4>Parameters</h4>${fieldTable(parameters)}`}
${body === null ? '' : `<h4>Body: ${linkTo(body.name)}</h4>${fieldTable(body.fields)}${example(body.example)}`}
<h4>Answers</h4>
<table><thead><tr><th scope="col">Status</th><th scope="col">When</th><th scope="col">Body</th></tr></thead><tbody>${rows.join('')}</tbody></table>
</article>`;
}

function shapeSection({ name, fields, example: shown }: Shape): string {
  return `<details id="schema-${escaped(name)}"><summary>${escaped(name)}</summary>${fieldTable(fields)}${example(shown)}</details>`;
}

function fieldTable(fields: readonly Field[]): string {
  if (fields.length === 0) return '';
  const rows = fields.map(
    ({ name, type, required, description }) =>
      `<tr><td><code>${escaped(name)}</code>${required ? ' <b title="required">*</b>' : ''}</td><td>${escaped(type)}</td><td>${inline(description)}</td></tr>`,
  );
  return `<table><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function example(value: Json): string {
  return value === null ? '' : `<pre><code>${escaped(JSON.stringify(value, null, 2))}</code></pre>`;
}

function linkTo(shape: string): string {
  return `<a href="#schema-${escaped(shape)}">${escaped(shape)}</a>`;
}

function badge(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${escaped(method)}</span>`;
}

function bare(path: string): string {
  return path.replace('/api/v1', '');
}

function prose(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('');
}

/** Backticks are the only mark in our own sentences. */
function inline(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#d8dee4,#353b45);--soft:light-dark(#f4f6f8,#1c2128);--link:light-dark(#0b57d0,#8ab4f8);--page:light-dark(#fff,#12151a);--text:light-dark(#1c2024,#e4e7eb)}
*{box-sizing:border-box}
body{font:1rem/1.55 system-ui,sans-serif;margin:0;background:var(--page);color:var(--text);display:grid;grid-template:auto 1fr/minmax(16rem,20rem) minmax(0,1fr);gap:0 2rem;padding:0 1.5rem 4rem}
header{grid-column:1/-1;max-width:60rem;border-bottom:1px solid var(--line);padding:1rem 0}
h1{margin:.5rem 0}h1 small{font-weight:400;font-size:1rem;opacity:.7}
nav{position:sticky;top:0;max-height:100vh;overflow:auto;padding:1rem 0;font-size:.875rem}
nav h2{font-size:.8rem;text-transform:uppercase;letter-spacing:.05em;margin:1rem 0 .25rem;opacity:.7}
nav ul{list-style:none;margin:0;padding:0}nav a{text-decoration:none;display:block;padding:.1rem 0;overflow-wrap:anywhere}
main{max-width:60rem;min-width:0}
a{color:var(--link)}
article{border:1px solid var(--line);border-radius:.5rem;padding:0 1.25rem 1.25rem;margin:1rem 0;scroll-margin-top:1rem}
h3{overflow-wrap:anywhere}h4{margin:1rem 0 .25rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
code{font:.875em ui-monospace,monospace;background:var(--soft);padding:.05em .3em;border-radius:.25em}
pre{background:var(--soft);padding:.75rem 1rem;border-radius:.5rem;overflow:auto}pre code{padding:0;background:none}
details{border-bottom:1px solid var(--line);padding:.4rem 0}summary{cursor:pointer;font-weight:600}
.method{display:inline-block;min-width:3.6em;text-align:center;font:600 .75em ui-monospace,monospace;border:1px solid currentColor;border-radius:.3em;padding:.1em .3em}
.get{color:light-dark(#0a6b3d,#7ee2b0)}.post{color:light-dark(#0b57d0,#8ab4f8)}.delete{color:light-dark(#b3261e,#f2b8b5)}
@media(max-width:50rem){body{display:block}nav{position:static;max-height:none}}`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
