import { expect, it } from 'vitest';
import { readRequestId } from './request-id.ts';

it.each([
  '7b0b8f0e-4a5c-4a57-a8b9-0f8d6a1c0b11',
  'Root=1-67891233-abcdef012345678912345678',
  'a',
  'crm/orders:4711+retry@2',
  'x'.repeat(128),
])('takes %s', (header) => expect(readRequestId(header)).toBe(header));

it.each([
  undefined,
  '',
  ' ',
  'two words',
  'one, two',
  '-rf',
  'line\nbreak',
  'line\r\nSet-Cookie: a=b',
  '{"level":60}',
  'naïve',
  '\u0000',
  'x'.repeat(129),
  ['one', 'two'],
])('makes a new one in place of %j', (header) => expect(readRequestId(header)).toBeNull());
