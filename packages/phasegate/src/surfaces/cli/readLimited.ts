/** Reads bytes up to a limit; undefined when there are more. */
export async function readLimited(
  chunks: AsyncIterable<Uint8Array | string>,
  limit: number,
): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const part = Buffer.from(chunk as Uint8Array);
    size += part.length;
    if (size > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
