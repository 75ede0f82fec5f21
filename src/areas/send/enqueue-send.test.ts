import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../core/errors.ts';
import { enqueueSend, type EnqueuePorts } from './enqueue-send.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import type { OutboundRecord } from './outbound-ports.ts';
import type { PreparedSend } from './prepare-send.ts';

const FOLDER = {} as SpoolFolder;

const PREPARED = {
  email: {
    record: { id: 'the-id', messageId: 'a@example.com', threadId: 'the-thread', attachments: [] },
    raw: { kind: 'bytes', bytes: Buffer.from('raw') },
    attachments: [],
    queue: {
      lane: 'new',
      priority: 'normal',
      dueAt: null,
      dueInMs: 0,
      timedFrom: new Date(),
      giveUpAfterMs: 1000,
    },
  },
  envelope: { mailFrom: null, rcptTo: ['b@example.com'] },
} as unknown as PreparedSend;

function makePorts(recordOutbound: (record: OutboundRecord) => Promise<void>): EnqueuePorts {
  return {
    store: {
      recordOutbound: async (record: OutboundRecord) => {
        await recordOutbound(record);
        return { cameBack: false, orphans: [] };
      },
    },
    blobs: {},
    wakeQueue: () => undefined,
  } as unknown as EnqueuePorts;
}

describe('a send for the queue', () => {
  // Found by test/crash: the caller got 503, and the email went out.
  it('is stored again under the same id when the answer to its commit was lost', async () => {
    const stored: string[] = [];
    const ports = makePorts(async ({ id }) => {
      stored.push(id);
      if (stored.length === 1) throw new ServiceError('database_unavailable');
    });
    await expect(enqueueSend(ports, PREPARED, FOLDER)).resolves.toMatchObject({
      kind: 'queued',
      id: 'the-id',
    });
    expect(stored).toEqual(['the-id', 'the-id']);
  });

  it('is not tried again when the database refuses it', async () => {
    let tries = 0;
    const ports = makePorts(() => {
      tries += 1;
      return Promise.reject(new Error('refused'));
    });
    await expect(enqueueSend(ports, PREPARED, FOLDER)).rejects.toThrow('refused');
    expect(tries).toBe(1);
  });
});
