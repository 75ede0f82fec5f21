/** The outcome for a message when the server or the line fails at each step; see scripted-smtp-server.ts. */
import { describe, expect, it } from 'vitest';
import {
  CLOSE,
  RESET,
  SILENCE,
  type Reaction,
  type Script,
  type ScriptedServer,
} from '../../../test/helpers/scripted-smtp-server.ts';
import type { Content } from '../../platform/files/file-ports.ts';
import type { Envelope, TransportResult } from '../../areas/send/transport-ports.ts';
import { useSmtpParts } from '../../../test/helpers/smtp-parts.ts';

/** For limits that no test waits for: a process that stands still for a while must not mistake that for a silent server. */
const PATIENT = {
  connectTimeoutMs: 60_000,
  greetingTimeoutMs: 60_000,
  commandTimeoutMs: 60_000,
  dataTimeoutMs: 60_000,
};
/** For a server that is silent at one step: only the limit of that step is short. */
type Limits = Partial<typeof PATIENT>;
const QUICK_GREETING = { greetingTimeoutMs: 150 };
const QUICK_COMMAND = { commandTimeoutMs: 200 };
const QUICK_DATA = { dataTimeoutMs: 200 };
/** Up to the end of EHLO, silence may be as long as the longer of the two. */
const QUICK_EHLO = { greetingTimeoutMs: 1000, commandTimeoutMs: 1000 };
/** The steps before that one have the same limit, and must be over by then. */
const QUICK_MESSAGE = { commandTimeoutMs: 1000 };
const ENVELOPE: Envelope = { mailFrom: 'sender@example.com', rcptTo: ['a@example.test', 'b@example.test'] };
const SMALL: Content = { kind: 'bytes', bytes: Buffer.from('Subject: small\r\n\r\nHello\r\n.dot\r\n') };
// More than the kernel's buffers hold, so that the end is far from the socket when the line breaks.
const LARGE: Content = {
  kind: 'bytes',
  bytes: Buffer.from(`Subject: large\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(400_000)}`),
};

const { startScripted, connect: connectTo } = useSmtpParts();

const start = (script: Script, extensions?: readonly string[]) =>
  startScripted({ script, ...(extensions ? { extensions } : {}) });
const connect = ({ port }: ScriptedServer, limits: Limits = {}) =>
  connectTo(`smtp://127.0.0.1:${port}?max_connections=1`, { ...PATIENT, ...limits });

const states = (result: TransportResult): readonly string[] => result.recipients.map(({ state }) => state);

interface FaultCase {
  readonly name: string;
  readonly script: Script;
  readonly content?: Content;
  readonly limits?: Limits;
  readonly kind: TransportResult['kind'];
  /** Only for `refused`. */
  readonly temporary?: boolean;
  readonly states: readonly string[];
  readonly detail?: RegExp;
  /** Messages that reached the server whole. */
  readonly received?: number;
}

const DEFERRED = ['deferred', 'deferred'];
const REJECTED = ['rejected', 'rejected'];
const UNKNOWN = ['unknown', 'unknown'];
const lost = (name: string, script: Script, detail?: RegExp, limits: Limits = {}): FaultCase => ({
  name,
  limits,
  script,
  kind: 'refused',
  temporary: true,
  states: DEFERRED,
  ...(detail ? { detail } : {}),
});
const unknown = (
  name: string,
  dot: Reaction | readonly Reaction[],
  detail?: RegExp,
  limits: Limits = {},
): FaultCase => ({
  name,
  limits,
  script: { dot: () => dot },
  kind: 'unknown',
  states: UNKNOWN,
  received: 1,
  ...(detail ? { detail } : {}),
});

const CASES: readonly FaultCase[] = [
  lost('no greeting', { connect: () => SILENCE }, /Greeting never received/, QUICK_GREETING),
  lost('the line closed without a greeting', { connect: () => CLOSE }, /failed/),
  lost('the line reset without a greeting', { connect: () => RESET }, /failed/),
  lost('421 for a greeting', { connect: () => '421 4.3.2 Busy\r\n' }, /refused: 421 4\.3\.2 Busy/),
  lost('554 for a greeting', { connect: () => '554 No service\r\n' }, /refused: 554 No service/),
  lost('a greeting that is not SMTP', { connect: () => 'HTTP/1.1 400 Bad Request\r\n' }, /HTTP/),
  lost('a greeting without end', { connect: () => '220-hello\r\n'.repeat(20_000) }, /exceeds/),
  lost('a closed line in place of EHLO’s reply', { ehlo: () => CLOSE }),
  lost('no reply to EHLO', { ehlo: () => SILENCE }, /Timeout/, QUICK_EHLO),
  lost('a refused EHLO and HELO', { ehlo: () => '502 5.5.1 no\r\n' }, /HELO was refused: 502/),
  lost('a closed line in place of MAIL’s reply', { mail: () => CLOSE }),
  lost('a reset line in place of MAIL’s reply', { mail: () => RESET }),
  lost('no reply to MAIL', { mail: () => SILENCE }, /Timeout/, QUICK_COMMAND),
  lost('451 to MAIL', { mail: () => '451 4.7.1 Later\r\n' }, /MAIL FROM refused: 451 4\.7\.1 Later/),
  lost('421 to MAIL', { mail: () => ['421 4.7.0 Bye\r\n', CLOSE] }, /421/),
  lost('garbage to MAIL', { mail: () => 'whatever\r\n' }, /whatever/),
  {
    name: '550 to MAIL',
    script: { mail: () => '550 5.7.1 Not you\r\n' },
    kind: 'refused',
    temporary: false,
    states: REJECTED,
    detail: /^MAIL FROM refused: 550 5\.7\.1 Not you$/,
  },
  {
    ...lost('451 to MAIL and a closed line behind it', {
      mail: () => '451 4.7.1 Later\r\n',
      data: () => CLOSE,
    }),
    detail: /^MAIL FROM refused: 451/,
  },
  lost('a closed line in place of RCPT’s reply', { rcpt: () => CLOSE }),
  lost('no reply to RCPT', { rcpt: () => SILENCE }, /Timeout/, QUICK_COMMAND),
  {
    name: 'a closed line after the first recipient was rejected',
    script: { rcpt: ({ time }) => (time === 1 ? '550 5.1.1 Unknown\r\n' : CLOSE) },
    kind: 'refused',
    temporary: true,
    states: ['rejected', 'deferred'],
  },
  {
    name: 'all recipients rejected',
    script: { rcpt: () => '550 5.1.1 Unknown\r\n' },
    kind: 'refused',
    temporary: false,
    states: REJECTED,
    detail: /^all recipients refused: 550 5\.1\.1 Unknown$/,
  },
  {
    name: 'all recipients refused, one of them for now',
    script: { rcpt: ({ time }) => (time === 1 ? '450 4.2.1 Full\r\n' : '550 5.1.1 Unknown\r\n') },
    kind: 'refused',
    temporary: true,
    states: ['deferred', 'rejected'],
    detail: /450/,
  },
  {
    name: 'all recipients rejected, yet 354 to DATA',
    script: { rcpt: () => '550 5.1.1 Unknown\r\n', data: () => '354 Go\r\n', dot: () => '250 Empty\r\n' },
    kind: 'refused',
    temporary: false,
    states: REJECTED,
  },
  {
    name: 'MAIL rejected, yet 354 to DATA',
    script: { mail: () => '550 5.7.1 No\r\n', rcpt: () => '250 Ok\r\n', data: () => '354 Go\r\n' },
    kind: 'refused',
    temporary: false,
    states: REJECTED,
  },
  lost('a closed line in place of 354', { data: () => CLOSE }),
  lost('no reply to DATA', { data: () => SILENCE }, /Timeout/, QUICK_COMMAND),
  lost('451 to DATA', { data: () => '451 4.3.0 Later\r\n' }, /DATA refused: 451/),
  lost(
    '250 to DATA, as of a server out of step',
    { data: () => '250 Ok\r\n' },
    /DATA was answered with 250 Ok/,
  ),
  lost('354 and 250 to DATA', { data: () => '354 Go\r\n250 Ok\r\n' }, /before it was sent/),
  {
    name: '554 to DATA',
    script: { data: () => '554 5.7.1 No\r\n' },
    kind: 'refused',
    temporary: false,
    states: REJECTED,
    detail: /^DATA refused: 554 5\.7\.1 No$/,
  },
  { ...lost('a closed line in mid-message', { message: () => CLOSE }, /during/), content: LARGE },
  { ...lost('a reset line in mid-message', { message: () => RESET }, /during/), content: LARGE },
  {
    ...lost('a server that reads no more', { message: () => SILENCE }, /during.*Timeout/, QUICK_MESSAGE),
    content: LARGE,
  },
  { ...lost('552 in mid-message', { message: () => '552 5.3.4 Too big\r\n' }, /during/), content: LARGE },
  { ...lost('250 in mid-message', { message: () => '250 2.0.0 Ok\r\n' }, /during/), content: LARGE },
  unknown('a closed line after the dot', CLOSE, /^no valid reply to the end of the message: /),
  unknown('a reset line after the dot', RESET),
  unknown('no reply after the dot', SILENCE, /none within 200 ms/, QUICK_DATA),
  unknown('garbage after the dot', 'whatever\r\n', /whatever/),
  unknown('half a reply after the dot, then silence', ['250 2.0', SILENCE], undefined, QUICK_DATA),
  unknown('an unfinished 250 after the dot, then the end', ['250 2.0.0 Ok', CLOSE]),
  unknown('the first line of two after the dot, then the end', ['250-2.0.0 Ok\r\n', CLOSE]),
  unknown('354 after the dot', '354 Go on\r\n'),
  unknown('lines with different codes after the dot', '250-2.0.0 Ok\r\n550 5.7.1 No\r\n'),
  unknown('a digit in place of a code after the dot', '2 fine\r\n'),
  {
    ...lost('421 after the dot', { dot: () => ['421 4.3.2 Shutting down\r\n', CLOSE] }, /421 4\.3\.2/),
    received: 1,
  },
  { ...lost('451 after the dot', { dot: () => '451 4.3.0 Later\r\n' }, /451 4\.3\.0 Later/), received: 1 },
  {
    ...lost('an unfinished 451, then the end', { dot: () => ['451 4.3.0 La', CLOSE] }, /451 4\.3\.0 La/),
    received: 1,
  },
  {
    name: '550 after the dot',
    script: { dot: () => '550-5.7.1 This is\r\n550 5.7.1 spam\r\n' },
    kind: 'refused',
    temporary: false,
    states: REJECTED,
    detail: /^the message was refused: 550 5\.7\.1 This is spam$/,
    received: 1,
  },
  {
    name: '550 after the dot while one recipient was refused for now',
    script: {
      rcpt: ({ time }) => (time === 1 ? '450 4.2.1 Full\r\n' : undefined),
      dot: () => '550 5.7.1 Spam\r\n',
    },
    kind: 'refused',
    temporary: true,
    states: ['deferred', 'rejected'],
    received: 1,
  },
  {
    name: 'no reply after the dot while one recipient was rejected',
    script: { rcpt: ({ time }) => (time === 1 ? '550 5.1.1 Unknown\r\n' : undefined), dot: () => CLOSE },
    kind: 'unknown',
    states: ['rejected', 'unknown'],
    received: 1,
  },
  {
    name: '250 in pieces, of several lines and in UTF-8',
    script: { dot: () => ['250-2.0', '.0 Grüße\r', '\n250 2.0.0 queued as ', '12\r\n'] },
    kind: 'accepted',
    states: ['accepted', 'accepted'],
    detail: /^250 2\.0\.0 Grüße queued as 12$/,
    received: 1,
  },
];

describe.each([
  ['with PIPELINING', undefined],
  ['without PIPELINING', ['8BITMIME']],
])('%s', (_, extensions) => {
  it.each(CASES)('tells what is certain after $name', async (fault) => {
    const server = await start(fault.script, extensions);
    const transport = connect(server, fault.limits);
    const result = await transport.send(ENVELOPE, fault.content ?? SMALL);
    expect({ ...result, states: states(result) }).toMatchObject({
      kind: fault.kind,
      states: fault.states,
      ...(fault.temporary === undefined ? {} : { temporary: fault.temporary }),
    });
    expect(result.detail).toMatch(fault.detail ?? /./);
    expect(server.received.filter(({ rcptTo }) => rcptTo.length > 0)).toHaveLength(fault.received ?? 0);
    expect(server.connections).toBe(1);
  });
});

describe('a kept connection', () => {
  const sendTwo = async (
    server: ScriptedServer,
    between: () => Promise<unknown>,
  ): Promise<TransportResult> => {
    const transport = connect(server);
    expect((await transport.send(ENVELOPE, SMALL)).kind).toBe('accepted');
    await between();
    return transport.send(ENVELOPE, SMALL);
  };

  it('carries one message after the other', async () => {
    const server = await start({});
    const result = await sendTwo(server, async () => {});
    expect(result.kind).toBe('accepted');
    expect(server.accepted).toHaveLength(2);
    expect(server.connections).toBe(1);
  });

  it.each([
    ['closed while idle', '', true],
    ['closed with 421 while idle', '421 4.4.2 Idle too long\r\n', true],
    ['out of step while idle', '250 2.0.0 Surprise\r\n', false],
  ])('is replaced when it was %s', async (_, text, andClose) => {
    const server = await start({});
    const result = await sendTwo(server, async () => {
      await server.shout(text, andClose);
      await expect.poll(() => server.open).toBe(0);
    });
    expect(result.kind).toBe('accepted');
    expect(server.accepted).toHaveLength(2);
    expect(server.connections).toBe(2);
  });

  it.each([
    ['reset', RESET],
    ['closed', CLOSE],
    ['ended with 421', ['421 4.4.2 Too late\r\n', CLOSE]],
  ] as const)('is replaced once when it is %s in place of the reply to MAIL', async (_, reaction) => {
    const server = await start({ mail: ({ time }) => (time === 2 ? reaction : undefined) });
    const result = await sendTwo(server, async () => {});
    expect(result.kind).toBe('accepted');
    expect(server.accepted).toHaveLength(2);
    expect(server.connections).toBe(2);
  });

  it('is not replaced a second time', async () => {
    const server = await start({
      mail: ({ time, connection }) => (time === 2 || connection > 1 ? RESET : undefined),
    });
    const result = await sendTwo(server, async () => {});
    expect(result).toMatchObject({ kind: 'refused', temporary: true });
    expect(server.connections).toBe(2);
  });

  it.each([
    [
      'after the first recipient was answered',
      { rcpt: ({ time }) => (time === 4 ? RESET : undefined) },
      'refused',
      1,
    ],
    ['in place of 354', { data: ({ time }) => (time === 2 ? RESET : undefined) }, 'refused', 1],
    ['after the dot', { dot: ({ time }) => (time === 2 ? RESET : undefined) }, 'unknown', 2],
  ] as const satisfies readonly [string, Script, string, number][])(
    'is not replaced for the same message when it is reset %s',
    async (_, script, kind, received) => {
      const server = await start(script, ['SIZE']);
      const result = await sendTwo(server, async () => {});
      expect(result.kind).toBe(kind);
      expect(server.received).toHaveLength(received);
      expect(server.connections).toBe(1);
    },
  );

  it('serves the next message after each kind of refusal', async () => {
    const server = await start({
      mail: ({ time }) => (time === 1 ? '550 5.7.1 No\r\n' : undefined),
      rcpt: ({ time }) => (time <= 4 ? '550 5.1.1 Unknown\r\n' : undefined),
      dot: ({ time }) => (time === 1 ? '550 5.7.1 Spam\r\n' : undefined),
    });
    const transport = connect(server);
    const kinds = [];
    for (let count = 0; count < 4; count += 1) kinds.push((await transport.send(ENVELOPE, SMALL)).kind);
    expect(kinds).toEqual(['refused', 'refused', 'refused', 'accepted']);
    expect(server.commands.filter((command) => command === 'RSET')).toHaveLength(3);
    expect(server.connections).toBe(1);
  });

  it('takes a reply that came in time, though the process stood still until it was too late', async () => {
    // Long enough for the server, which is in this process, to reply in time on a busy machine.
    const dataTimeoutMs = 1000;
    const server = await start({
      dot: () => {
        // After the reply is written, and until the client has waited too long for it.
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, dataTimeoutMs + 100));
        return '250 2.0.0 Ok\r\n';
      },
    });
    expect((await connect(server, { dataTimeoutMs }).send(ENVELOPE, SMALL)).kind).toBe('accepted');
  });

  it('is given up when RSET fails', async () => {
    const server = await start({
      mail: ({ connection }) => (connection === 1 ? '550 5.7.1 No\r\n' : undefined),
      rset: () => '421 4.3.2 Bye\r\n',
    });
    const transport = connect(server);
    await transport.send(ENVELOPE, SMALL);
    expect((await transport.send(ENVELOPE, SMALL)).kind).toBe('accepted');
    expect(server.connections).toBe(2);
  });

  it('is given up when it says more than it was asked', async () => {
    const server = await start({
      dot: ({ connection }) => (connection === 1 ? '250 2.0.0 Ok\r\n250 2.0.0 Ok\r\n' : undefined),
    });
    const result = await sendTwo(server, async () => {});
    expect(result.kind).toBe('accepted');
    expect(server.accepted).toHaveLength(2);
    expect(server.connections).toBe(2);
  });
});
