import { describe, expect, it } from 'vitest';
import { keepsCopies } from './keeps-copies.ts';

describe('a mail server keeps copies by itself', () => {
  it.each(['smtp.gmail.com', 'SMTP.Office365.com', 'smtp.mail.me.com.'])('when it is %s', (host) => {
    expect(keepsCopies(host)).toBe(true);
  });

  it.each(['smtp-relay.gmail.com', 'smtp.gmail.com.example.com', 'mail.example.com', '127.0.0.1', ''])(
    'but not when it is %s',
    (host) => {
      expect(keepsCopies(host)).toBe(false);
    },
  );
});
