/** A DNS server (RFC 1035) on UDP that supports a few types of records. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface DnsServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Name → its TXT records, each with its strings; `fail` → SERVFAIL. Any other name does not exist. */
  readonly records: Map<string, readonly (readonly string[])[] | 'fail'>;
  /** Type and name → the content of the records: `MX example.com` → `10 mail.example.com`, `A …` → an address, `PTR …` → a name, `SRV …` → `0 1 993 imap.example.com`. */
  readonly others: Map<string, readonly string[]>;
  stop(): Promise<void>;
}

const TXT = 16;
const TYPES: Readonly<Record<number, string>> = { 1: 'A', 12: 'PTR', 15: 'MX', 33: 'SRV' };
const NAME_POINTER = Buffer.from([0xc0, 12]);

export async function startDnsServer(): Promise<DnsServer> {
  const records: DnsServer['records'] = new Map();
  const others: DnsServer['others'] = new Map();
  const socket = createSocket('udp4');
  socket.on('message', (query, client) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const found = type === TXT ? records.get(name) : others.get(`${TYPES[type] ?? ''} ${name}`);
    const answers = found === undefined || found === 'fail' ? [] : found;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    // A response, recursion available, and the code: 0 fine, 2 SERVFAIL, 3 NXDOMAIN.
    head.writeUInt16BE(0x8180 | (found === 'fail' ? 2 : found === undefined ? 3 : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    socket.send(
      Buffer.concat([head, query.subarray(12, end + 4), ...answers.map((answer) => toAnswer(type, answer))]),
      client.port,
      client.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    records,
    others,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function toAnswer(type: number, answer: string | readonly string[]): Buffer {
  const data = typeof answer === 'string' ? toData(type, answer) : toStrings(answer);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2); // IN
  fixed.writeUInt32BE(0, 4); // must not be cached
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([NAME_POINTER, fixed, data]);
}

function toData(type: number, text: string): Buffer {
  if (TYPES[type] === 'A') return Buffer.from(text.split('.').map(Number));
  if (TYPES[type] === 'PTR') return toName(text);
  if (TYPES[type] === 'SRV') {
    const [priority = '0', weight = '0', port = '0', target = ''] = text.split(' ');
    const fixed = Buffer.alloc(6);
    [priority, weight, port].forEach((number, index) => fixed.writeUInt16BE(Number(number), 2 * index));
    return Buffer.concat([fixed, toName(target)]);
  }
  const [preference = '0', name = ''] = text.split(' ');
  return Buffer.concat([Buffer.from([0, Number(preference)]), toName(name)]);
}

const toStrings = (strings: readonly string[]): Buffer =>
  Buffer.concat(strings.map((text) => Buffer.from([text.length, ...Buffer.from(text, 'latin1')])));

const toName = (name: string): Buffer =>
  Buffer.concat([toStrings(name.split('.').filter((label) => label !== '')), Buffer.from([0])]);
