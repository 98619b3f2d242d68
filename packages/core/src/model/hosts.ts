/**
 * Why a text does not name hosts that a sandbox may open: `host`, `*.domain` for all in it, or either with a port; null
 * where it does.
 */
export function hostProblem(text: string): string | null {
  const [, port] = HOST.exec(text) ?? [];
  if (!HOST.test(text))
    return `\`${text.slice(0, 100)}\` is not a host: write \`host\`, \`*.domain\` or \`host:port\``;
  if (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)) return null;
  return `\`${text}\` has a port that does not exist`;
}

const HOST = /^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::(\d{1,5}))?$/;
