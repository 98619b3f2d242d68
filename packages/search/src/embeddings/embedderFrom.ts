import { PhasegateError } from '@phasegate/core';
import type { Embedder } from './embedder.ts';
import { createEndpointEmbedder } from './endpointEmbedder.ts';

/** The embedder the environment asks for, or null. The key is read here and goes nowhere but into the request. */
export function embedderFrom(env: Readonly<Record<string, string | undefined>>): Embedder | null {
  const {
    PHASEGATE_EMBEDDINGS_URL: place,
    PHASEGATE_EMBEDDINGS_MODEL: model,
    PHASEGATE_EMBEDDINGS_KEY: key,
  } = env;
  if (place === undefined || place === '') return null;
  if (model === undefined || model === '') {
    throw new PhasegateError('config_invalid', '`PHASEGATE_EMBEDDINGS_URL` is set without a model', {
      hint: 'set `PHASEGATE_EMBEDDINGS_MODEL` to the name of the model',
    });
  }
  return createEndpointEmbedder({ url: endpoint(place), model, key: key === '' ? undefined : key });
}

function endpoint(place: string): URL {
  const url = URL.canParse(place) ? new URL(place) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new PhasegateError('config_invalid', '`PHASEGATE_EMBEDDINGS_URL` is not an http or https address');
  }
  if (url.username !== '' || url.password !== '') {
    throw new PhasegateError('config_invalid', '`PHASEGATE_EMBEDDINGS_URL` holds a credential', {
      hint: 'put it into `PHASEGATE_EMBEDDINGS_KEY`',
    });
  }
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLocal) {
    throw new PhasegateError(
      'config_invalid',
      `\`${url.host}\` is not this machine, so it must be reached by https`,
    );
  }
  if (!url.pathname.endsWith('/embeddings')) url.pathname = `${url.pathname.replace(/\/$/, '')}/embeddings`;
  return url;
}
