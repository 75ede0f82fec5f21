import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expectCpuGrowthBelow } from '../../../test/readers/cpu-time.ts';
import { readDeliveryStatus } from './delivery-status.ts';
import { runs } from '../../../test/helpers/runs.ts';

/** The lines of delivery statuses, in any order. */
const line = fc.oneof(
  fc.constantFrom(
    'Final-Recipient: rfc822; ada@customer.test',
    'Final-Recipient : rfc/822;eve@customer.test',
    'Original-Recipient: rfc822;max@customer.test',
    'Final-Recipient: rfc822;',
    'Action: failed',
    'Action: delayed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 <someone@elsewhere.test>: unknown',
    '550 5.1.1 <other@elsewhere.test> unknown',
    'Remote-MTA: dns; mx@elsewhere.test',
    'Reporting-MTA: dns; mail.example.com',
    ' continued@elsewhere.test',
    '',
    ' ',
  ),
  fc.string({ maxLength: 40 }),
);
const status = fc
  .array(line, { maxLength: 40 })
  .chain((lines) => fc.constantFrom('\n', '\r\n', '\r').map((end) => lines.join(end)));

it('names no recipient but those in fields for one', () => {
  fc.assert(
    fc.property(status, (text) => {
      const named = new Set(
        text
          .replace(/\r\n?/g, '\n')
          .split(/\n+(?![ \t])/)
          .filter((field) => /^(?:final|original)[ _-]recipient[ \t]*:/i.test(field))
          .flatMap((field) => field.match(/[^\s<>;]+@[^\s<>;]+/g) ?? []),
      );
      const read = readDeliveryStatus(Buffer.from(text)).flatMap(({ address, finalAddress }) => [
        address,
        finalAddress ?? address,
      ]);
      expect(read.filter((address) => address.endsWith('.test') && !named.has(address))).toEqual([]);
    }),
    { numRuns: runs(2000) },
  );
});

it('reads the same with any line ends, and with empty lines added between the fields of one recipient', () => {
  const fields = [
    'Final-Recipient: rfc822; ada@customer.test',
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 No such user',
  ];
  const read = (text: string) => readDeliveryStatus(Buffer.from(text));
  const [expected] = read(fields.join('\r\n'));
  expect(expected).toMatchObject({
    address: 'ada@customer.test',
    action: 'failed',
    status: '5.1.1',
    severity: 'hard',
  });
  for (const end of ['\n', '\r', '\r\r\n', '\n\n', '\r\n \r\n'])
    expect(read(fields.join(end))).toEqual([expected]);
});

it.each([
  ['recipients', 'Final-Recipient: rfc822; a@b.test\n'],
  ['fields without a recipient', 'Action: failed\n'],
  ['empty lines', '\n'],
  ['lines of a diagnostic', 'Diagnostic-Code: smtp; 550 x\n550 y\n'],
  ['spaces before a colon', `Final-Recipient${' '.repeat(500)}\n`],
])('needs time in proportion to its length for %s', (_, unit) => {
  const make = (times: number) => Buffer.from(unit.repeat(times));
  // A quadratic reader would need 400 times as much.
  expectCpuGrowthBelow(100, readDeliveryStatus, make(1000), make(20_000), 2);
});
