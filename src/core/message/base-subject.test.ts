import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../test/readers/cpu-time.ts';
import { readBaseSubject, withoutAnyPrefix } from './base-subject.ts';

describe('the base subject', () => {
  it.each([
    ['Angebot', 'angebot', false],
    ['Re: Angebot', 'angebot', true],
    ['RE: AW: Antw: Re[2]: Angebot', 'angebot', true],
    ['Re^3: Angebot', 'angebot', true],
    ['Re (2): Angebot', 'angebot', true],
    ['Re : Angebot', 'angebot', true],
    ['[list] Re: [list] Angebot', 'angebot', true],
    ['Re: [list 2] Re: Angebot', 'angebot', true],
    ['回复：报价', '报价', true],
    ['答复: RE: 报价', '报价', true],
    ['SV: Tilbud', 'tilbud', true],
    ['Odp: Oferta', 'oferta', true],
    ['YNT: Teklif', 'teklif', true],
    ['R: Offerta', 'offerta', true],
    ['RES: Oferta', 'oferta', true],
    ['Fwd: Angebot', 'angebot', false],
    ['WG: Re: Angebot', 'angebot', false],
    ['Re: Fwd: Angebot', 'angebot', true],
    ['Angebot (fwd)', 'angebot', false],
    ['[Fwd: Re: Angebot]', 'angebot', false],
    ['Re:  Angebot \t vom\r\n Montag ', 'angebot vom montag', true],
    ['Re: [123]', '[123]', true],
    ['Rechnung: 5', 'rechnung: 5', false],
    ['Frage: Re: x', 'frage: re: x', false],
    ['Re:', '', true],
    ['', '', false],
  ])('of %j is %j, a reply: %j', (subject, base, isReply) => {
    expect(readBaseSubject(subject)).toMatchObject({ base, isReply });
  });

  it.each(['İLT: Teklif', 'i̇lt: Teklif', 'Videresend: Tilbud', 'Redir.: Ofertă', 'VB: Offert', 'PD: Oferta'])(
    'of %j is a forward',
    (subject) => {
      expect(readBaseSubject(subject)).toMatchObject({ isForward: true });
      expect(withoutAnyPrefix(subject)).not.toContain(':');
    },
  );

  it('of a base subject is itself, for any text, in little time', () => {
    const piece = fc.constantFrom(
      'Re: ',
      'aw:',
      '[',
      ']',
      '[x] ',
      ':',
      '(fwd)',
      ' ',
      'a',
      '回复：',
      '[fwd: ',
      '^2',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
        ),
        (subject) => {
          const { base } = readBaseSubject(subject);
          expect(readBaseSubject(base).base).toBe(base);
        },
      ),
    );
    const work = (): void => {
      readBaseSubject('['.repeat(1_000_000));
      readBaseSubject('Re: '.repeat(1_000_000));
    };
    expectCpuBelow(500, work);
  });
});

describe('without any prefix', () => {
  it.each([
    ['Angebot', 'Angebot'],
    ['AW: WG: Fwd: Angebot: März', 'Angebot: März'],
    ['Re[2]: 回复：Ödön', 'Ödön'],
    ['Re:', 'Re:'],
    ['', ''],
    [': x', ': x'],
  ])('%j is %j', (subject, expected) => {
    expect(withoutAnyPrefix(subject)).toBe(expected);
  });
});
