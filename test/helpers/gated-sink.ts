/** A mail server that can hold back every message, before it has received any of it, until a test lets it go on. */
import { startSmtpSink, type SmtpSink } from './smtp-sink.ts';
import { waitUntil } from './wait-until.ts';

export interface GatedSink extends SmtpSink {
  /** Makes messages wait from now on. */
  close(): void;
  /** Resolves when a message waits. */
  reached(): Promise<void>;
  /** Lets waiting messages go on and later ones pass. */
  open(): void;
}

export async function startGatedSink(): Promise<GatedSink> {
  /** Messages that wait; null while the gate is open. */
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
