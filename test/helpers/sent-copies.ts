/** Shared by tests of copies in Sent mailboxes: the contents of a Sent mailbox, and the service's report about a copy. */
import type { DovecotServer } from './dovecot-server.ts';
import { getJson } from './running-service.ts';
import type { ServiceProcess } from './service-process.ts';
import { waitUntil } from './wait-until.ts';

export interface SentMessage {
  readonly uid: number;
  readonly raw: Buffer;
  readonly flags: ReadonlySet<string>;
  readonly internalDate: Date;
}

/** Everything in a mailbox, oldest first; empty if there is no such mailbox. */
export function readMailbox(dovecot: DovecotServer, path = 'Sent'): Promise<readonly SentMessage[]> {
  return dovecot.withClient('alice', async (client) => {
    const mailboxes = await client.list();
    if (!mailboxes.some((mailbox) => mailbox.path === path)) return [];
    const { exists } = await client.mailboxOpen(path, { readOnly: true });
    if (exists === 0) return [];
    const messages = await client.fetchAll('1:*', {
      uid: true,
      source: true,
      flags: true,
      internalDate: true,
    });
    return messages.map(({ uid, source, flags, internalDate }) => ({
      uid,
      raw: source ?? Buffer.alloc(0),
      flags: flags ?? new Set<string>(),
      internalDate: new Date(internalDate ?? 0),
    }));
  });
}

/** How often each Message-ID is in the mailbox. */
export async function countCopies(
  dovecot: DovecotServer,
  messageIds: readonly string[],
  path = 'Sent',
): Promise<readonly number[]> {
  const texts = (await readMailbox(dovecot, path)).map(({ raw }) => raw.toString('latin1'));
  return messageIds.map((id) => texts.filter((text) => text.includes(`Message-ID: ${id}`)).length);
}

export interface SentCopyJson {
  readonly state: string;
  readonly at: string;
  readonly tries: number;
  readonly error: string | null;
  readonly mailbox: string | null;
}

export const readCopy = async (service: ServiceProcess, id: string): Promise<SentCopyJson | null> =>
  (await getJson<{ sent_copy: SentCopyJson | null }>(service, `/api/emails/${id}`)).sent_copy;

export async function waitForCopy(
  service: ServiceProcess,
  id: string,
  condition: (copy: SentCopyJson) => boolean = ({ state }) => state === 'stored',
): Promise<SentCopyJson> {
  let copy: SentCopyJson | null = null;
  await waitUntil(`the copy of ${id} is as expected`, async () => {
    copy = await readCopy(service, id);
    return copy !== null && condition(copy);
  });
  return copy as unknown as SentCopyJson;
}
