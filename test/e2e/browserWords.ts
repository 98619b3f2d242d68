import chromium from '@sparticuz/chromium';

/** What the browser from npm is started with: all that keeps pages apart stays switched on. */
export function browserWords(): string[] {
  return chromium.args.filter((word) => !UNSAFE.has(word));
}

/** Set for pages that are only printed; here, what they switch off is what is tested. */
const UNSAFE = new Set([
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--single-process',
]);
