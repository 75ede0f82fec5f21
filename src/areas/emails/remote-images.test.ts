import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { GIF, PNG, SVG } from '../../../test/helpers/sample-images.ts';
import { rasterImageType } from '../../core/html/image-type.ts';
import type { SignedRemoteImage } from './image-urls.ts';
import type { FetchedImage, ImageCache } from './remote-image-ports.ts';
import { createRemoteImages, type RemoteImagePorts } from './remote-images.ts';

const ID = '0190b2a0-0000-7000-8000-000000000003';
const MINUTE_MS = 60_000;
const signed = (name: string, more: Partial<SignedRemoteImage> = {}): SignedRemoteImage => ({
  emailId: ID,
  address: `https://images.example/${name}?for=ann@example.com`,
  by: 'a',
  expires: 1,
  signature: 'right',
  ...more,
});
const failure = (isSlow = false): FetchedImage => ({ kind: 'none', detail: 'status 404', isSlow });

function memoryCache(): ImageCache & { readonly kept: Map<string, Buffer> } {
  const kept = new Map<string, Buffer>();
  return {
    kept,
    has: (address) => kept.has(address),
    get: async (address) => {
      const bytes = kept.get(address);
      const type = bytes === undefined ? null : rasterImageType(bytes);
      if (bytes === undefined || type === null) return null;
      return { type, sizeBytes: bytes.length, stream: Readable.from([bytes]) };
    },
    put: async (address, bytes) => void kept.set(address, bytes),
  };
}

function start(more: Partial<RemoteImagePorts> = {}) {
  const time = { now: 1000 };
  const fetched: string[] = [];
  const outcomes: string[] = [];
  const lines: unknown[] = [];
  const answers: ((answer: FetchedImage) => void)[] = [];
  const state: { answer: FetchedImage | 'later' } = { answer: { kind: 'image', bytes: PNG } };
  const log = (fields: object, message: string) => void lines.push({ ...fields, message });
  const cache = memoryCache();
  const stopping = new AbortController();
  const readWith = createRemoteImages({
    imageUrls: { isValidRemote: ({ signature }) => signature === 'right' },
    hasEmail: async (id) => id === ID || id.startsWith('other'),
    fetchImage: async (address) => {
      fetched.push(address);
      const { answer } = state;
      return answer === 'later' ? new Promise((resolve) => answers.push(resolve)) : answer;
    },
    cache,
    meter: { noteImage: (outcome) => void outcomes.push(outcome) },
    now: () => time.now,
    logger: { debug: log, info: log, warn: log, error: log },
    ...more,
  });
  const read = (image: SignedRemoteImage) => readWith(image, stopping.signal);
  const bytesOf = async (image: SignedRemoteImage) => buffer((await read(image)).stream);
  const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
  return { stopping, read, bytesOf, fetched, outcomes, lines, answers, state, cache, time, settle };
}

describe('a remote image', () => {
  it('is fetched once, however often it is opened', async () => {
    const { read, bytesOf, fetched, outcomes } = start();
    const image = await read(signed('a'));
    expect(image).toMatchObject({ type: 'image/png', sizeBytes: PNG.length });
    expect(await buffer(image.stream)).toEqual(PNG);
    expect(await bytesOf(signed('a', { by: 'b', emailId: 'other' }))).toEqual(PNG);
    expect(fetched).toHaveLength(1);
    expect(outcomes).toEqual(['fetched', 'cached']);
  });

  it('is fetched once for all who ask at the same moment', async () => {
    const { bytesOf, fetched, answers, state, settle } = start();
    state.answer = 'later';
    const asking = ['a', 'b', 'c'].map((by) => bytesOf(signed('a', { by })));
    await settle();
    answers[0]?.({ kind: 'image', bytes: GIF });
    expect(await Promise.all(asking)).toEqual([GIF, GIF, GIF]);
    expect(fetched).toHaveLength(1);
  });

  it('is not fetched without a valid signature, or for an email that was deleted', async () => {
    const { read, fetched } = start();
    for (const image of [signed('a', { signature: 'wrong' }), signed('a', { emailId: 'gone' })])
      await expect(read(image)).rejects.toMatchObject({ code: 'image_not_found' });
    expect(fetched).toEqual([]);
  });

  it('that was fetched is not shown for an email that was deleted since', async () => {
    const { read, bytesOf } = start();
    await bytesOf(signed('a'));
    await expect(read(signed('a', { emailId: 'gone' }))).rejects.toMatchObject({ code: 'image_not_found' });
  });

  it('that failed is not asked for again for ten minutes, so that failures count no reads either', async () => {
    const { read, bytesOf, fetched, state, time, outcomes } = start();
    state.answer = failure();
    for (let count = 0; count < 3; count += 1)
      await expect(read(signed('a'))).rejects.toMatchObject({ code: 'remote_image_unavailable' });
    expect(fetched).toHaveLength(1);
    expect(outcomes).toEqual(['failed', 'failed', 'failed']);
    state.answer = { kind: 'image', bytes: PNG };
    time.now += 10 * MINUTE_MS;
    expect(await bytesOf(signed('a'))).toEqual(PNG);
  });

  it('is logged with the host of its server alone', async () => {
    const { read, lines, state } = start();
    state.answer = failure();
    await expect(read(signed('a'))).rejects.toMatchObject({ code: 'remote_image_unavailable' });
    expect(lines).toEqual([
      {
        emailId: ID,
        host: 'images.example',
        detail: 'status 404',
        message: 'a remote image could not be fetched',
      },
    ]);
  });

  it('is refused when its bytes are not an image, although the fetch took it for one', async () => {
    const { read, state } = start();
    state.answer = { kind: 'image', bytes: SVG };
    await expect(read(signed('a'))).rejects.toMatchObject({ code: 'remote_image_unavailable' });
  });

  it('fails at once when others of its email took all their time, while those of other emails do not', async () => {
    const { read, bytesOf, fetched, state, time } = start();
    state.answer = failure(true);
    for (let count = 0; count < 10; count += 1)
      await expect(read(signed(`a${count}`))).rejects.toMatchObject({ code: 'remote_image_unavailable' });
    expect(fetched).toHaveLength(4);
    state.answer = { kind: 'image', bytes: PNG };
    expect(await bytesOf(signed('b', { emailId: 'other' }))).toEqual(PNG);
    time.now += 10 * MINUTE_MS;
    expect(await bytesOf(signed('b2'))).toEqual(PNG);
  });

  it('fails at once when others of its email took very long together, though each came in time', async () => {
    const time = { now: 1000 };
    const fetched: string[] = [];
    const { read } = start({
      now: () => time.now,
      fetchImage: async (address) => {
        fetched.push(address);
        time.now += 9500;
        return { kind: 'image', bytes: PNG };
      },
    });
    for (let count = 0; count < 13; count += 1) await read(signed(`a${count}`));
    await expect(read(signed('more'))).rejects.toMatchObject({ code: 'remote_image_unavailable' });
    // What is kept costs nothing.
    await read(signed('a1'));
    await read(signed('of another', { emailId: 'other' }));
    expect(fetched).toHaveLength(14);
    time.now += 10 * MINUTE_MS;
    await read(signed('more'));
  });

  it('waits for its turn, and is refused when too many wait: other callers still get theirs', async () => {
    const { read, bytesOf, fetched, answers, state, settle, outcomes } = start();
    state.answer = 'later';
    const asking = Array.from({ length: 308 }, (_, count) => bytesOf(signed(`a${count}`)));
    await settle();
    expect(fetched).toHaveLength(8);
    await expect(read(signed('one-more'))).rejects.toMatchObject({ code: 'rate_limited' });
    expect(outcomes).toEqual(['busy']);
    const other = bytesOf(signed('b', { by: 'b' }));
    await settle();
    expect(fetched.at(-1)).toContain('/b?');
    state.answer = { kind: 'image', bytes: PNG };
    for (const answer of answers) answer({ kind: 'image', bytes: PNG });
    expect(await other).toEqual(PNG);
    expect(await Promise.all(asking)).toHaveLength(308);
    // What was refused did not count as failed.
    expect(await bytesOf(signed('one-more'))).toEqual(PNG);
  });

  it('is neither asked for nor taken for a failure when the service stops', async () => {
    const { read, state, stopping, lines } = start();
    state.answer = failure();
    stopping.abort();
    await expect(read(signed('a'))).rejects.toMatchObject({ code: 'remote_image_unavailable' });
    expect(lines).toEqual([]);
  });

  it('is shown even if it cannot be kept', async () => {
    const broken = () => Promise.reject(new Error('disk full'));
    const { bytesOf, lines, fetched } = start({ cache: { has: () => false, get: broken, put: broken } });
    for (let count = 0; count < 2; count += 1) expect(await bytesOf(signed('a'))).toEqual(PNG);
    expect(fetched).toHaveLength(2);
    expect(lines).toHaveLength(1);
  });
});
