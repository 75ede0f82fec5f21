/** I2 as a client sees it: everything that was promised can be read through the API, byte for byte. */
import { TEST_SECRET } from '../helpers/service-process.ts';
import type { Exchange } from './load.ts';
import { sha256 } from './requests.ts';
import type { ServiceNode } from './service-node.ts';
import type { LedgerLine } from './smtp-counter.ts';
import type { EmailRow } from './check.ts';

const PARALLEL = 8;

export interface Promised {
  readonly exchange: Exchange;
  readonly row: EmailRow;
  readonly line: LedgerLine;
}

/** Returns a description of each fault found. */
export async function checkApi(
  nodes: readonly ServiceNode[],
  promised: readonly Promised[],
): Promise<readonly string[]> {
  const violations: string[] = [];
  const queue = [...promised];
  const reader = async (index: number): Promise<void> => {
    const node = nodes[index % nodes.length]!;
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      const { token } = item.exchange.request;
      for (const problem of await readBack(node.url ?? '', item)) {
        violations.push(`I2 ${token} read from ${node.name}: ${problem}`);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, index) => reader(index)));
  return violations;
}

interface EmailJson {
  readonly id: string;
  readonly message_id: string;
  readonly thread_id?: string;
  readonly email_attachments: readonly { readonly id: string; readonly filename: string }[];
}

async function readBack(url: string, { exchange, row, line }: Promised): Promise<readonly string[]> {
  const problems: string[] = [];
  const get = async (path: string): Promise<Buffer> => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${TEST_SECRET}` } });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${bytes.toString()}`);
    return bytes;
  };
  const getJson = async <T>(path: string): Promise<T> => JSON.parse((await get(path)).toString()) as T;
  try {
    const email = await getJson<EmailJson>(`/api/emails/${row.id}`);
    // The thread that the answer named, which may have been merged into another one.
    const given = exchange.answers.map(({ json }) => json['threadId']).find((id) => typeof id === 'string');
    const thread = await getJson<{ emails: EmailJson[] }>(`/api/thread/${given ?? email.thread_id}`);
    const listed = thread.emails.filter(({ id }) => id === row.id);
    if (listed.length !== 1 || listed[0]?.message_id !== line.messageId) problems.push('not in its thread');
    if (sha256(await get(`/api/emails/${row.id}/raw`)) !== line.sha256) problems.push('another raw message');
    const wanted = exchange.request.attachments;
    if (email.email_attachments.length !== wanted.length) problems.push('another number of attachments');
    for (const [index, attachment] of email.email_attachments.entries()) {
      const hash = sha256(await get(`/api/attachments/${attachment.id}`));
      if (hash !== wanted[index]?.sha256) problems.push(`another content of ${attachment.filename}`);
    }
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}
