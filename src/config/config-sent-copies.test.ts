import { describe, expect, it } from 'vitest';
import { readSentCopies } from './config-sent-copies.ts';

const read = (value: string | null, smtpUrl: string | null = 'smtp://mail.example.com', hasMailbox = true) =>
  readSentCopies('X', value, { smtpUrl, hasMailbox });

describe('copies of sent mail', () => {
  it('are kept only where they are asked for', () => {
    expect(read(null)).toEqual({ areKept: false, note: null });
    expect(read('off', null, false)).toEqual({ areKept: false, note: null });
    expect(read('on')).toEqual({ areKept: true, note: null });
    expect(read('auto', 'smtps://user:p%40ss@mail.example.com:465')).toEqual({ areKept: true, note: null });
  });

  it('are left to providers that keep them, with a note, unless they are asked for nevertheless', () => {
    const gmail = 'smtps://ann%40example.com:secret@smtp.gmail.com';
    expect(read('auto', gmail)).toMatchObject({ areKept: false });
    expect(read('auto', gmail).note).toContain(
      'smtp.gmail.com puts sent mail into the Sent mailbox by itself',
    );
    expect(read('auto', gmail).note).not.toContain('secret');
    expect(read('on', gmail)).toEqual({ areKept: true, note: null });
  });

  it.each(['true', 'ON', 'yes'])('can not be %s', (value) => {
    expect(() => read(value)).toThrow('must be off, auto or on');
  });

  it('need a mailbox', () => {
    expect(() => read('auto', null, false)).toThrow('has no effect without an IMAP server');
  });
});
