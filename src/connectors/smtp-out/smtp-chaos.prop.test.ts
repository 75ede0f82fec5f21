/** Whatever goes wrong, and whenever: the transport's result is true, and no message is handed over twice. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLOSE,
  RESET,
  startScriptedServer,
  type Reaction,
  type Script,
} from '../../../test/helpers/scripted-smtp-server.ts';
import { createSmtpTransport } from './smtp-transport.ts';
import { parseSmtpUrl } from './smtp-url.ts';
import { runs } from '../../../test/helpers/runs.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';

const MESSAGES = 30;

const STEPS = ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'dot', 'rset'] as const;

const reaction: fc.Arbitrary<Reaction | readonly Reaction[]> = fc.constantFrom<
  (Reaction | readonly Reaction[])[]
>(
  RESET,
  CLOSE,
  '250 2.0.0 Ok\r\n',
  '250 2.0.0 Ok\r\n250 2.0.0 Ok\r\n',
  '354 Go\r\n',
  '354 Go\r\n250 2.0.0 Ok\r\n',
  '421 4.3.2 Bye\r\n',
  ['421 4.3.2 Bye\r\n', CLOSE],
  '451 4.3.0 Later\r\n',
  '503 5.5.1 Out of step\r\n',
  '550 5.1.1 No\r\n',
  'garbage\r\n',
  '250 half',
  ['250-2.0.0 in ', 'pieces\r\n250 2.0.0 Ok\r\n'],
);

/** When any connection reaches the step for the n-th time, the server reacts like this. */
const faults = fc.array(
  fc.record({ step: fc.constantFrom(...STEPS), at: fc.integer({ min: 1, max: MESSAGES }), reaction }),
  { maxLength: 12 },
);

describe('the transport', () => {
  it('never calls a message refused that was taken, nor accepted that was not, and sends none twice', async () => {
    await fc.assert(
      fc.asyncProperty(faults, fc.boolean(), async (plan, pipelining) => {
        const times = new Map<string, number>();
        const script: Script = Object.fromEntries(
          STEPS.map((step) => [
            step,
            () => {
              const time = (times.get(step) ?? 0) + 1;
              times.set(step, time);
              return plan.find((fault) => fault.step === step && fault.at === time)?.reaction;
            },
          ]),
        );
        const server = await startScriptedServer({
          script,
          extensions: pipelining ? ['PIPELINING'] : ['SIZE'],
        });
        const limits = {
          connectTimeoutMs: 300,
          greetingTimeoutMs: 100,
          commandTimeoutMs: 100,
          dataTimeoutMs: 100,
        };
        const transport = createSmtpTransport({
          ...parseSmtpUrl(`smtp://127.0.0.1:${server.port}?max_connections=2`, limits),
          logger: silentLogger,
        });
        const results = await Promise.all(
          Array.from({ length: MESSAGES }, (_, number) =>
            transport.send(
              { mailFrom: 'a@example.com', rcptTo: ['b@example.test'] },
              { kind: 'bytes', bytes: Buffer.from(`Subject: ${number}\r\n\r\n`) },
            ),
          ),
        );
        await transport.close();
        const numbers = (messages: readonly { data: Buffer }[]): readonly number[] =>
          messages.map(({ data }) => Number(/\d+/.exec(data.toString())?.[0])).sort((a, b) => a - b);
        const said = (kind: string): readonly number[] =>
          results.flatMap((result, number) => (result.kind === kind ? [number] : []));
        const received = numbers(server.received.filter(({ data }) => data.length > 0));
        const accepted = numbers(server.accepted.filter(({ data }) => data.length > 0));
        await server.close();
        expect(new Set(received).size).toBe(received.length);
        expect(said('refused').filter((number) => accepted.includes(number))).toEqual([]);
        expect(said('accepted').filter((number) => !accepted.includes(number))).toEqual([]);
      }),
      { numRuns: runs(40), interruptAfterTimeLimit: 30_000 },
    );
  });
});
