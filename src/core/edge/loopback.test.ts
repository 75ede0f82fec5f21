import { expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1'])('%s is', (address) => {
  expect(isLoopback(address)).toBe(true);
});

it.each(['0.0.0.0', '::', '10.0.0.1', '192.168.0.1', '2001:db8::1', '::ffff:10.0.0.1', '1.127.0.1', ''])(
  '%s is not',
  (address) => {
    expect(isLoopback(address)).toBe(false);
  },
);
