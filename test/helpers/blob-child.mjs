/**
 * Uses a blob store in a process of its own. Arguments: options of createBlobStore as JSON, mode, path of a file.
 * - `puts`: stores the file's bytes as `kill/1`, `kill/2` and so on, and prints the number of each one that is stored.
 * - `memory`: stores the file and reads it back, then prints the most memory that this took, and the SHA-256.
 */
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createBlobStore } from '../../dist/connectors/blob/create.js';

const [options, mode, file] = process.argv.slice(2);
const store = await createBlobStore(JSON.parse(options));

if (mode === 'puts') {
  const bytes = await readFile(file);
  for (let n = 1; ; n++) {
    await store.put(`kill/${n}`, { kind: 'bytes', bytes }, 'application/octet-stream');
    writeSync(1, `${n}\n`);
  }
}
// First with a small file, so that code and connections are not counted.
await store.put('warm', { kind: 'bytes', bytes: Buffer.alloc(100_000) }, 'text/plain');
for await (const chunk of await store.get('warm')) void chunk;
const before = process.resourceUsage().maxRSS;
const content = { kind: 'file', path: file, sizeBytes: (await stat(file)).size };
await store.put('large', content, 'application/octet-stream');
const hash = createHash('sha256');
for await (const chunk of await store.get('large')) hash.update(chunk);
const grownKiB = process.resourceUsage().maxRSS - before;
await store.close();
writeSync(1, JSON.stringify({ grownBytes: grownKiB * 1024, sha256: hash.digest('hex') }));
