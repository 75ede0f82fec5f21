/**
 * Copies of texts that the service does not have yet, kept in this browser: a text survives a closed tab, a crash and a lost connection.
 * Each belongs to the account of the service that wrote it, and goes when the service has the text or the person logs out.
 */
import type { DeviceCopies, DeviceCopy } from './device-copy.ts';

/** The part of a session that says whose it is. */
export const accountOf = ({
  key_id: id,
  name,
}: {
  readonly key_id: string | null;
  readonly name: string;
}): string => id ?? name;

const PREFIX = 'email-worker.text.';
const CHANNEL = 'email-worker.texts';
/** A window that is open answers at once. */
const ANSWER_WITHIN_MS = 400;

type Told = { readonly asked: string } | { readonly written: string };

function post(channel: BroadcastChannel, told: Told): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin alone
  channel.postMessage(told);
}

export function createDeviceCopies(
  storage: Storage | null,
  createChannel: () => BroadcastChannel,
): DeviceCopies {
  const own = new Set<string>();
  let channel: BroadcastChannel | null = null;
  /** Answers other windows which texts are still being written here. */
  const answer = (): void => {
    if (channel !== null) return;
    channel = createChannel();
    channel.addEventListener('message', ({ data }: MessageEvent<Told>) => {
      if (channel !== null && 'asked' in data && own.has(data.asked)) post(channel, { written: data.asked });
    });
  };
  const allOf = (of: string): (readonly [string, DeviceCopy])[] =>
    storage === null
      ? []
      : Object.keys(storage).flatMap((name) => {
          const copy = name.startsWith(PREFIX) ? readCopy(storage.getItem(name)) : null;
          return copy?.of === of ? [[name.slice(PREFIX.length), copy] as const] : [];
        });

  return {
    keep(key, copy) {
      answer();
      own.add(key);
      try {
        storage?.setItem(PREFIX + key, JSON.stringify(copy));
      } catch {
        // A full storage keeps the previous text; the service gets this one within seconds.
      }
    },
    drop(key) {
      own.delete(key);
      storage?.removeItem(PREFIX + key);
    },
    async left(of) {
      const copies = allOf(of).filter(([key]) => !own.has(key));
      if (copies.length === 0) return [];
      const written = new Set<string>();
      const asking = createChannel();
      asking.addEventListener('message', ({ data }: MessageEvent<Told>) => {
        if ('written' in data) written.add(data.written);
      });
      for (const [asked] of copies) post(asking, { asked });
      await new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS));
      asking.close();
      return copies.filter(([key]) => !written.has(key) && storage?.getItem(PREFIX + key) !== null);
    },
    dropAll(of) {
      for (const [key] of allOf(of)) this.drop(key);
    },
  };
}

function readCopy(text: string | null): DeviceCopy | null {
  try {
    const copy = JSON.parse(text ?? 'null') as DeviceCopy | null;
    return typeof copy?.of === 'string' && typeof copy.request === 'object' ? copy : null;
  } catch {
    return null;
  }
}

/** Browsers can be set to store nothing. */
function storageOf(): Storage | null {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}

export const deviceCopies: DeviceCopies = createDeviceCopies(
  storageOf(),
  () => new BroadcastChannel(CHANNEL),
);
