/** A mail server that can hold back every message, before it has anything of it, until a test lets it go on. */
import { startSmtpSink, type SmtpSink } from './smtp-sink.ts';
import { waitUntil } from './wait-until.ts';

export interface GatedSink extends SmtpSink {
  /** From now on messages wait. */
  close(): void;
  /** Resolves when a message waits. */
  reached(): Promise<void>;
  /** Lets what waits go on, and what comes later pass. */
  open(): void;
}

export async function startGatedSink(): Promise<GatedSink> {
  /** Those that wait; null while the gate is open. */
  let waiting: (() => void)[] | null = null;
  const sink = await startSmtpSink({
    onMailFrom(_address, _session, callback) {
      if (waiting === null) callback();
      else waiting.push(() => callback());
    },
  });
  return {
    ...sink,
    close() {
      waiting ??= [];
    },
    reached: () => waitUntil('a message waits at the mail server', () => (waiting ?? []).length > 0),
    open() {
      for (const pass of waiting ?? []) pass();
      waiting = null;
    },
  };
}
