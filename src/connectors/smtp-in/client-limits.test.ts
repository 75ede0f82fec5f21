import { beforeEach, describe, expect, it } from 'vitest';
import { ClientLimits } from './client-limits.ts';
import { MAX_COMMANDS, MAX_ERRORS, MAX_MESSAGE_MS, MAX_WITHOUT_MESSAGE_MS } from './limits.ts';

let now: number;
let cut: string[];
let limits: ClientLimits;

beforeEach(() => {
  now = 0;
  cut = [];
  limits = new ClientLimits({
    maxClients: 4,
    maxClientsPerAddress: 2,
    cutOff: (id, reason) => cut.push(`${id}: ${reason}`),
    now: () => now,
  });
});

describe('connections', () => {
  it('of one address are bounded, whatever others do', () => {
    expect(['a', 'b', 'c'].map((id) => limits.connect(id, '192.0.2.1'))).toEqual([null, null, 'address']);
    expect(limits.connect('d', '192.0.2.2')).toBeNull();
    limits.disconnect('a');
    limits.disconnect('c');
    expect(limits.connect('e', '192.0.2.1')).toBeNull();
    expect(limits.connect('f', '192.0.2.1')).toBe('address');
  });

  it('of one IPv6 network count together', () => {
    limits.connect('a', '2001:db8::1');
    limits.connect('b', '2001:db8::2');
    expect(limits.connect('c', '2001:db8::ffff:3')).toBe('address');
    expect(limits.connect('d', '2001:db8:0:1::1')).toBeNull();
  });

  it('beyond the total push out the one that has gone longest without delivering', () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      limits.connect(id, `192.0.2.${id.charCodeAt(0)}`);
      now += 1000;
    }
    limits.noteMessageBegin('a');
    limits.noteMessageBegin('b');
    limits.noteMessageEnd('b', true);
    expect(limits.connect('e', '192.0.2.5')).toBeNull();
    expect(cut).toEqual(['c: makes_room']);
  });

  it('beyond the total are refused while all deliver', () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      limits.connect(id, `192.0.2.${id.charCodeAt(0)}`);
      limits.noteMessageBegin(id);
    }
    expect(limits.connect('e', '192.0.2.5')).toBe('full');
    expect(cut).toEqual([]);
  });
});

describe('a client is cut off, once,', () => {
  beforeEach(() => void limits.connect('a', '192.0.2.1'));

  it('after many errors without a message', () => {
    for (let error = 1; error < MAX_ERRORS; error++) limits.noteError('a');
    limits.noteMessageEnd('a', true);
    for (let error = 1; error < MAX_ERRORS; error++) limits.noteError('a');
    limits.noteMessageEnd('a', false);
    expect(cut).toEqual([]);
    limits.noteError('a');
    limits.noteError('a');
    expect(cut).toEqual(['a: errors']);
  });

  it('not after errors behind a log-in', () => {
    limits.noteLogIn('a');
    for (let error = 0; error < 2 * MAX_ERRORS; error++) limits.noteError('a');
    expect(cut).toEqual([]);
    for (let command = 0; command <= MAX_COMMANDS; command++) limits.noteCommand('a');
    expect(cut).toEqual(['a: commands']);
  });

  it('after many commands without a message', () => {
    for (let command = 0; command < MAX_COMMANDS; command++) limits.noteCommand('a');
    expect(cut).toEqual([]);
    limits.noteCommand('a');
    expect(cut).toEqual(['a: commands']);
  });

  it('when it delivers nothing for long', () => {
    now = MAX_WITHOUT_MESSAGE_MS;
    limits.checkTimes();
    limits.noteMessageEnd('a', true);
    now += MAX_WITHOUT_MESSAGE_MS;
    limits.checkTimes();
    expect(cut).toEqual([]);
    now += 1;
    limits.checkTimes();
    limits.checkTimes();
    expect(cut).toEqual(['a: no_message']);
  });

  it('when a message takes too long', () => {
    limits.noteMessageBegin('a');
    now = MAX_MESSAGE_MS;
    limits.checkTimes();
    expect(cut).toEqual([]);
    now += 1;
    limits.checkTimes();
    expect(cut).toEqual(['a: slow_message']);
  });
});

it('events of clients that are gone are ignored', () => {
  limits.disconnect('x');
  limits.noteCommand('x');
  limits.noteError('x');
  limits.noteMessageBegin('x');
  limits.noteMessageEnd('x', true);
  expect(cut).toEqual([]);
});
