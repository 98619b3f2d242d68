import { oneLine } from '@phasegate/core/model';
import { openBeneath } from './openBeneath.ts';
import { PathRefused } from './pathRefused.ts';
import { relativePath } from './relativePath.ts';

/** Reads a regular file below a real root, following no link; one over the limit is refused. */
export async function readBeneath(
  root: string,
  given: string,
  maxBytes: number,
): Promise<{ readonly path: string; readonly content: Buffer }> {
  const path = relativePath(given);
  if (path === null || path === '') {
    throw new PathRefused('path_outside', `\`${oneLine(given)}\` is not a path inside the workspace`);
  }
  const { found, file } = await openBeneath(root, path);
  const name = oneLine(path);
  if (found.kind === 'missing') throw new PathRefused('path_not_found', `there is no file \`${name}\``);
  if (found.kind === 'link') {
    throw new PathRefused(
      'path_is_link',
      `\`${name}\` leads through the link \`${oneLine(found.at)}\`, which is not followed`,
    );
  }
  if (file === null) throw new PathRefused('path_not_a_file', `\`${name}\` is not a file`);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new PathRefused('too_large', `\`${name}\` is larger than ${maxBytes} bytes`);
    // No more than was looked at: the file may grow while it is read.
    const content = Buffer.alloc(size);
    let read = 0;
    while (read < size) {
      const { bytesRead } = await file.read(content, read, size - read, read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return { path, content: content.subarray(0, read) };
  } finally {
    await file.close();
  }
}
