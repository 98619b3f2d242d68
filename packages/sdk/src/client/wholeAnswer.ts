import { isJsonObject, type Json, own } from '@phasegate/core';
import { PhasegateClientError } from './PhasegateClientError.ts';

/** Reads one page of a large answer: its path below the API's address, and the page. */
export type ReadPage = (path: string, page: number, bearer: string | null) => Promise<unknown>;

/**
 * The whole of an answer that the server gave only the beginning of; any other as it is. The server cuts what it gives
 * to agents, and a caller of this client asked for all of it.
 */
export async function wholeAnswer(body: unknown, read: ReadPage, bearer: string | null): Promise<unknown> {
  if (!isJsonObject(body) || own(body, 'truncated') !== true) return body;
  const path = REST.exec(String(own(body, 'rest') ?? ''))?.[1];
  if (path === undefined) return body;
  // After a transition the token it was asked with is dead, and the next one came with the answer.
  const fresh = own(body, 'phase_token');
  const secret = typeof fresh === 'string' ? fresh : bearer;
  let text = '';
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const got = (await read(path, page, secret)) as Json;
    const part = own(got, 'text');
    const count = own(got, 'pages');
    if (typeof part !== 'string' || typeof count !== 'number' || count > MOST_PAGES) throw tooLarge();
    pages = count;
    text += part;
    if (text.length > LARGEST_ANSWER) throw tooLarge();
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PhasegateClientError('server_unreachable', 'the pages of the answer are not an answer', {
      cause,
    });
  }
}

/** The most of one answer that is read, in bytes, or in characters where it comes in pages. */
export const LARGEST_ANSWER = 64 * 1024 * 1024;

const REST = /^GET \/api\/v1(\/answers\/[\w%.-]+)\?page=1$/;
const MOST_PAGES = 2000;

function tooLarge(): PhasegateClientError {
  return new PhasegateClientError('too_large', 'the rest of the answer cannot be read');
}
