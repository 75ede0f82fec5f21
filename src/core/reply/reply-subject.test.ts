import { describe, expect, it } from 'vitest';
import { replySubject } from './reply-subject.ts';

describe('replySubject', () => {
  it.each<[string, 'reply' | 'forward', string]>([
    ['Angebot', 'reply', 'Re: Angebot'],
    ['Re: Angebot', 'reply', 'Re: Angebot'],
    ['AW: Re: WG: Angebot', 'reply', 'Re: WG: Angebot'],
    ['Antw.: X', 'reply', 'Re: Antw.: X'],
    ['RE[3]: SV: Angebot', 'reply', 'Re: Angebot'],
    ['回复：报价', 'reply', 'Re: 报价'],
    ['[Liste] Re: [Liste] Angebot', 'reply', 'Re: [Liste] [Liste] Angebot'],
    ['WG: Angebot', 'forward', 'Fwd: Angebot'],
    ['Fwd: Re: Angebot', 'forward', 'Fwd: Re: Angebot'],
    ['Re: Angebot', 'forward', 'Fwd: Re: Angebot'],
    ['Retour: Angebot', 'reply', 'Re: Retour: Angebot'],
    ['', 'reply', 'Re:'],
    ['a\u0000\r\nBcc: x', 'reply', 'Re: a Bcc: x'],
  ])('%j, %s: %j', (subject, kind, expected) => {
    expect(replySubject(subject, kind, 2000)).toBe(expected);
  });

  it('is never longer than allowed, nor cut within a character', () => {
    const subject = replySubject('😀'.repeat(3000), 'reply', 101);
    expect(subject.length).toBeLessThanOrEqual(101);
    expect(subject.isWellFormed()).toBe(true);
  });
});
