/**
 * An address as those see it who need not use it: where it leads, without its path and query, which in many services are
 * the secret by which one may post there.
 */
export function maskedUrl(address: string): string {
  const found = /^(https?:\/\/)(?:[^/?#]*@)?([^/?#]+)(.*)$/is.exec(address);
  if (found === null) return '…';
  const [, scheme, host, rest = ''] = found;
  return `${scheme}${host}/${rest === '' || rest === '/' ? '' : '…'}`;
}
