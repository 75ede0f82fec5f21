/** The results for the sender of a message, with DNS answers from the test: signed and sealed mail, and forged mail. */
import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { authenticate, dkimSign } from 'mailauth';
import { beforeAll, describe, expect, it } from 'vitest';
import { judge, type FromFields } from '../../core/message/authentication.ts';
import { toFromFields } from '../../core/mime/parse/message-head.ts';
import { parseMessage } from '../../core/mime/parse/parse.ts';
import { runs } from '../../../test/helpers/runs.ts';
import { checkMessage } from './check-message.ts';
import { BoundedLookups, type Lookup } from './bounded-lookups.ts';

type Signer = { readonly domain: string; readonly pem: string; readonly record: string };

function signer(domain: string, modulusLength = 1024): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
  const record = `v=DKIM1; p=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`;
  return { domain, pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), record };
}

/** The forged domain: it asks receivers to refuse mail that does not come from it. */
const VICTIM = signer('victim.test');
const EVIL = signer('evil.test');
const WEAK = signer('weak.test', 512);
const LISTS = [signer('list.test'), signer('other-list.test')] as const;
const RECORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [VICTIM, EVIL, WEAK, ...LISTS].map(({ domain, record }) => [`s1._domainkey.${domain}`, record]),
  ),
  'victim.test': 'v=spf1 ip4:192.0.2.1 -all',
  '_dmarc.victim.test': 'v=DMARC1; p=reject',
  'evil.test': 'v=spf1 ip4:192.0.2.66 -all',
  '_dmarc.evil.test': 'v=DMARC1; p=none',
  // It includes names whose server never answers.
  'strict.test': 'v=spf1 -all',
  '_dmarc.strict.test': 'v=DMARC1; p=reject; adkim=s; aspf=s',
  's1._domainkey.news.strict.test': EVIL.record,
  's1._domainkey.strict.test': VICTIM.record,
  // It names hosts by what the sender chose.
  'macro.test': 'v=spf1 include:%{l}.senders.macro.test -all',
  '_dmarc.macro.test': 'v=DMARC1; p=reject',
  'slow.test': `v=spf1 ${Array.from({ length: 8 }, (_, n) => `include:s${n}.slow.test`).join(' ')} -all`,
};

/** Time that look-ups took, in ms. */
let clock = 0;

const resolve: Lookup = async (domain) => {
  if (/^s\d\.slow\.test$/.test(domain)) {
    clock += 4000;
    throw Object.assign(new Error('silent'), { code: 'ETIMEOUT' });
  }
  if (domain.endsWith('servfail.test')) throw Object.assign(new Error('broken'), { code: 'ESERVFAIL' });
  if (domain.endsWith('silent.test')) {
    clock += 4000;
    throw Object.assign(new Error('silent'), { code: 'ETIMEOUT' });
  }
  if (domain.endsWith('odd.test')) throw Object.assign(new Error('odd'), { code: 'EBADRESP' });
  // As c-ares does.
  if (domain.split('.').some((label) => label === '' || label.length > 63) || domain.length > 253)
    throw Object.assign(new Error('bad name'), { code: 'EBADNAME' });
  const text = RECORDS[domain];
  if (text === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
  return [[text]];
};

const GENUINE = { client: { address: '192.0.2.1', helo: 'mx.victim.test' }, mailFrom: 'ada@victim.test' };
const FORGER = { client: { address: '192.0.2.66', helo: 'mx.evil.test' }, mailFrom: 'eve@evil.test' };

type Facts = Parameters<typeof checkMessage>[1];

/** The verdict as the service reaches it: about the From that it records and shows. */
async function verdictOf(raw: string, facts: Facts = FORGER): Promise<string> {
  const { fields, from } = parseMessage(Buffer.from(raw, 'latin1'));
  const lookups = new BoundedLookups(resolve, () => clock);
  const source = Readable.from([Buffer.from(raw, 'latin1')]);
  const found = await checkMessage(source, facts, () => lookups.ofCheck());
  return judge('checked', found, toFromFields(fields, from)).verdict;
}

const signature = (tags: string): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; ${tags}; h=from; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA\r\n`;
/** The body hash that the signatures above name: so their keys are asked for. */
const EMPTY_BODY = '';

async function check(raw: string, facts: Facts = FORGER) {
  const lookups = new BoundedLookups(resolve, () => clock);
  return await checkMessage(Readable.from([Buffer.from(raw)]), facts, () => lookups.ofCheck());
}

const ONE_FROM: FromFields = { count: 1, domains: ['victim.test'] };

const mailOf = (from: string, body = 'Hello\r\n') =>
  `From: ${from}\r\nTo: sales@example.com\r\nSubject: x\r\nDate: Sun, 01 Mar 2026 12:00:00 +0100\r\nMessage-ID: <a@b.test>\r\n\r\n${body}`;

async function sign(raw: string, { domain, pem }: Signer, options: object = {}): Promise<string> {
  // Otherwise the message may be signed in a different second from that in which it is written.
  const key = { signingDomain: domain, selector: 's1', privateKey: pem, signTime: new Date() };
  const { signatures } = await dkimSign(raw, { ...key, ...options, signatureData: [{ ...key, ...options }] });
  return signatures + raw;
}

/** As a mailing list does that forwards the message. */
async function seal(raw: string, { domain, pem }: Signer): Promise<string> {
  const { headers } = await authenticate(raw, {
    ...GENUINE.client,
    ip: '192.0.2.1',
    sender: GENUINE.mailFrom,
    mta: domain,
    resolver: resolve,
    disableBimi: true,
    seal: { signingDomain: domain, selector: 's1', privateKey: pem },
  });
  return headers + raw;
}

let signed: string;
beforeAll(async () => {
  signed = await sign(mailOf('ada@victim.test'), VICTIM);
});

describe('ARC', () => {
  it('passes when it is whole, once or twice forwarded, and is no signature of the sender', async () => {
    const once = await seal(signed, LISTS[0]);
    const twice = await seal(once, LISTS[1]);
    expect(twice.match(/^ARC-Seal:/gm)).toHaveLength(2);
    for (const raw of [once, twice]) {
      expect(await check(raw)).toMatchObject({
        arc: 'pass',
        dkim: [{ result: 'pass', domain: 'victim.test' }],
      });
    }
    expect((await check(signed)).arc).toBe('none');
  });

  it('fails when the message, a set or the seal is not what was sealed', async () => {
    const twice = await seal(await seal(signed, LISTS[0]), LISTS[1]);
    for (const raw of [
      twice.replace('Hello', 'Pay here'),
      twice.replace('Subject: x', 'Subject: y'),
      twice.replace(/^ARC-Seal: i=1;/m, 'X-Seal: i=1;'),
      twice.replace(/^(ARC-Authentication-Results: i=1;)/m, '$1 dmarc=pass header.from=evil.test;'),
      twice.replaceAll('d=list.test', 'd=evil.test'),
    ]) {
      expect(raw).not.toBe(twice);
      expect((await check(raw)).arc).toBe('fail');
    }
  });

  it('fails with a key that is too short, and hides nothing else', async () => {
    const raw = await seal(mailOf('ada@victim.test'), WEAK);
    const found = await check(raw);
    expect(found).toMatchObject({ arc: 'fail', dmarc: { result: 'fail', domain: 'victim.test' } });
    expect(judge('checked', found, ONE_FROM).verdict).toBe('failed');
  });
});

describe('a signature', () => {
  it('says nothing when it leaves out From, or the end of the body', async () => {
    const withoutFrom = await sign(mailOf('ada@victim.test'), VICTIM, { headerList: 'to:subject' });
    expect(withoutFrom).not.toMatch(/h=[^;]*from/i);
    expect((await check(withoutFrom)).dkim).toMatchObject([{ result: 'permerror' }]);
    const cut = await sign(mailOf('ada@victim.test'), VICTIM, { maxBodyLength: 3 });
    expect((await check(cut)).dkim).toMatchObject([{ result: 'policy' }]);
    for (const raw of [withoutFrom, cut]) {
      expect(judge('checked', await check(raw), ONE_FROM).verdict).toBe('failed');
    }
  });

  it('is one of few that are checked, which need few hashes of the body', async () => {
    const many = (length: (n: number) => string) =>
      Array.from(
        { length: 1000 },
        (_, n) => `DKIM-Signature: v=1; a=rsa-sha256; d=evil.test; s=s1;${length(n)} h=from; bh=x; b=y\r\n`,
      ).join('');
    const raw = mailOf('ada@victim.test');
    expect((await check(many(() => '') + raw)).dkim).toHaveLength(10);
    expect((await check(many((n) => ` l=${n};`) + raw)).dkim).toHaveLength(3);
    // Those of the domain of From come first.
    const signed = await sign(raw, VICTIM);
    expect(
      (
        await check(
          many(() => '')
            .split('\r\n')
            .slice(0, 40)
            .join('\r\n') +
            '\r\n' +
            signed,
        )
      ).dmarc?.result,
    ).toBe('pass');
  });
});

describe('a message that another server took', () => {
  it('is checked for signatures, and not for SPF', async () => {
    expect(await check(signed, { client: null, mailFrom: 'ada@victim.test' })).toEqual({
      spf: null,
      dkim: [{ result: 'pass', domain: 'victim.test', selector: 's1' }],
      dmarc: { result: 'pass', domain: 'victim.test' },
      arc: 'none',
    });
  });
});

describe('a forged message', () => {
  it('has failed although the DNS of its forger is slow', async () => {
    const found = await check(mailOf('ada@victim.test'), { ...FORGER, mailFrom: 'eve@slow.test' });
    expect(found).toMatchObject({ spf: { result: 'temperror' }, dmarc: { result: 'fail' } });
  });

  it.each([
    ['a signature of a domain whose DNS is broken', signature('d=servfail.test; s=s1')],
    ['a signature of a domain whose DNS is silent', signature('d=silent.test; s=s1')],
    ['a signature of a domain whose DNS answers nonsense', signature('d=odd.test; s=s1')],
    ['a selector that is too long', signature(`d=victim.test; s=${'x'.repeat(64)}`)],
    ['a selector with an empty label', signature('d=victim.test; s=a..b')],
    ['a selector with NUL', signature('d=victim.test; s=s\0x')],
    ['a selector with spaces', signature('d=victim.test; s=a b')],
    ['a selector that is not ASCII', signature('d=victim.test; s=\u00e4\u00ff')],
    ['a domain that is too long', signature(`d=${'a.'.repeat(130)}victim.test; s=s1`)],
    ['a key that the domain does not have', signature('d=victim.test; s=none')],
    [
      'nine silent signatures before one of the domain itself',
      Array.from({ length: 9 }, (_, n) => signature(`d=${n}.silent.test; s=s1`)).join('') +
        signature('d=victim.test; s=none'),
    ],
    [
      'a hundred silent signatures',
      Array.from({ length: 100 }, (_, n) => signature(`d=${n}.silent.test; s=s1`)).join(''),
    ],
    [
      'a silent seal',
      'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=silent.test; s=s1; b=AAAA\r\n' +
        'ARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=silent.test; s=s1; h=from; bh=x; b=AAAA\r\n' +
        'ARC-Authentication-Results: i=1; mx.test; dmarc=pass header.from=victim.test\r\n',
    ],
    ['a header too large to verify', `X: ${'y'.repeat(400_000)}\r\n`],
    ['a header of too many lines', `X: y\r\n${' z\r\n'.repeat(10_000)}`],
  ])('has failed with %s', async (_, fields) => {
    const raw = fields + mailOf('ada@victim.test', EMPTY_BODY);
    const senders = [
      'eve@evil.test',
      'eve@servfail.test',
      'eve@silent.test',
      'eve@slow.test',
      'eve@odd.test',
      'ada@victim.test',
      null,
    ];
    const verdicts = [];
    for (const mailFrom of senders) verdicts.push(await verdictOf(raw, { ...FORGER, mailFrom }));
    expect(verdicts).toEqual(senders.map(() => 'failed'));
  });

  it.each([
    ['an encoded word that is the address', '=?utf-8?B?YWRhQHZpY3RpbS50ZXN0?='],
    ['an encoded word that is the mailbox', '=?utf-8?Q?Ada_=3Cada=40victim.test=3E?='],
    ['an encoded address and empty brackets', '=?utf-8?Q?ada=40victim.test?= <>'],
    ['the address in quotes and empty brackets', '"ada@victim.test" <>'],
    ['the address as a comment', '(ada@victim.test)'],
    ['a comment within', 'ada(eve@evil.test)@victim.test'],
    ['a group', 'Team: ada@victim.test;'],
    ['a route', '<@evil.test:ada@victim.test>'],
    ['a dot behind the domain', 'ada@victim.test.'],
    ['a zero-width space', 'ada@victim\u00e2\u0080\u008b.test'],
    ['full-width letters', 'ada@\u00ef\u00bd\u0096ictim.test'],
    ['two mailboxes', 'eve@evil.test, ada@victim.test'],
    ['a subdomain', 'ada@mail.victim.test'],
    [
      'a subdomain that no DNS can be asked for',
      `ada@${'x'.repeat(63)}.${'y'.repeat(63)}.${'z'.repeat(63)}.${'w'.repeat(48)}.victim.test`,
    ],
  ])('has failed whose From is %s', async (_, from) => {
    for (const mailFrom of ['eve@evil.test', 'eve@silent.test']) {
      expect(await verdictOf(await sign(mailOf(from), EVIL), { ...FORGER, mailFrom })).toBe('failed');
    }
  });

  it('has not passed without an address in From, however well its forger signs', async () => {
    for (const from of [
      '',
      'Ada',
      'undisclosed-recipients:;',
      '<>',
      'ada@',
      '@evil.test',
      '=?utf-8?Q?Ada?=',
    ]) {
      expect(await verdictOf(await sign(mailOf(from), EVIL))).not.toBe('passed');
    }
    expect(await verdictOf((await sign(mailOf('x'), EVIL)).replace(/^From: x\r\n/m, ''))).not.toBe('passed');
  });

  it('has failed when a neighbour of a domain signs that wants the very same domain', async () => {
    const byNeighbour = await sign(mailOf('ada@strict.test'), { ...EVIL, domain: 'news.strict.test' });
    expect(await verdictOf(byNeighbour)).toBe('failed');
    const byItself = await sign(mailOf('ada@strict.test'), { ...VICTIM, domain: 'strict.test' });
    expect(await verdictOf(byItself)).toBe('passed');
  });

  it('has failed when the name of its sender makes a record that no DNS can be asked for', async () => {
    const mailFrom = `${'x'.repeat(70)}@macro.test`;
    expect(await verdictOf(mailOf('ada@macro.test'), { ...FORGER, mailFrom })).toBe('failed');
  });

  it.each([
    ['another From above', (raw: string) => `From: boss@victim.test\r\n${raw}`],
    ['a From that only one of two readers sees', (raw: string) => `From\u00a0: boss@victim.test\r\n${raw}`],
    ['another subject', (raw: string) => `Subject: Pay here\r\n${raw}`],
    ['another content type', (raw: string) => `Content-Type: text/html\r\n${raw}`],
    ['a text in the header', (raw: string) => raw.replace('\r\n\r\n', '\r\nPay here: eve\r\nBye.\r\n\r\n')],
    [
      'a header of another above',
      (raw: string) => `\r\nFrom: boss@victim.test\r\nTo: x@y.test\r\n\r\n${raw}`,
    ],
    ['a blank line above its From', (raw: string) => `From: boss@victim.test\r\n \r\n${raw}`],
  ])('has failed when a signed message of the domain gets %s', async (_, change) => {
    const genuine = await sign(
      mailOf('ada@victim.test').replace('Subject:', 'Content-Type: text/plain\r\nSubject:'),
      VICTIM,
      {
        headerList: 'from:to:subject:date:message-id:content-type',
      },
    );
    expect(await verdictOf(genuine)).toBe('passed');
    expect(await verdictOf(change(genuine))).toBe('failed');
  });

  it('is not one when only the DNS of its own domain does not answer', async () => {
    for (const domain of ['servfail.test', 'silent.test']) {
      const raw = signature(`d=${domain}; s=s1`) + mailOf(`ada@${domain}`, EMPTY_BODY);
      expect(await verdictOf(raw, { ...FORGER, mailFrom: `ada@${domain}` })).toBe('unknown');
    }
  });

  it('is not one when its own domain sent it', async () => {
    const verdicts = [await check(signed), await check(mailOf('ada@victim.test'), GENUINE)].map(
      (found) => judge('checked', found, ONE_FROM).verdict,
    );
    expect(verdicts).toEqual(['passed', 'passed']);
  });

  it('has failed whatever its writer puts around it', async () => {
    const AUTHORS = ['ada@victim.test', 'Ada <ada@VICTIM.test>', '"eve@evil.test" <ada@victim.test>'];
    const field = fc.oneof(
      fc.constantFrom(
        'Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=victim.test; dkim=pass header.d=victim.test; dmarc=pass header.from=victim.test',
        'Authentication-Results: localhost; dmarc=pass header.from=victim.test',
        'ARC-Authentication-Results: i=1; mx.example.com; dmarc=pass header.from=victim.test',
        'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=victim.test; s=s1; b=AAAA',
        'ARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=victim.test; s=s1; h=from; bh=x; b=AAAA',
        'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=victim.test; s=s1; h=from; bh=x; b=AAAA',
        'DKIM-Signature: v=1',
        'Received-SPF: pass',
        'Return-Path: <ada@victim.test>',
        'Sender: ada@victim.test',
        'Resent-From: ada@victim.test',
      ),
      fc
        .tuple(fc.constantFrom('ARC-Seal', 'DKIM-Signature', 'ARC-Message-Signature', 'X-Y'), fc.string())
        .map(([name, text]) => `${name}: ${text.replace(/[^ -~]/g, ' ')}`),
    );
    const forgery = fc.record({
      from: fc.constantFrom(...AUTHORS),
      fields: fc.array(field, { maxLength: 6 }),
      // No second From, or one before or after the first.
      otherFrom: fc.constantFrom('', 'before', 'behind'),
      signs: fc.boolean(),
      seals: fc.constantFrom(null, EVIL, WEAK),
      facts: fc.constantFrom(
        FORGER,
        { ...FORGER, mailFrom: null },
        { ...FORGER, mailFrom: 'ada@victim.test' },
      ),
    });
    await fc.assert(
      fc.asyncProperty(forgery, async ({ from, fields, otherFrom, signs, seals, facts }) => {
        const other = 'From: eve@evil.test\r\n';
        let raw = mailOf(from);
        if (otherFrom === 'before') raw = other + raw;
        if (otherFrom === 'behind') raw = raw.replace('\r\nTo:', `\r\n${other}To:`);
        raw = fields.map((one) => `${one}\r\n`).join('') + raw;
        if (signs) raw = await sign(raw, EVIL);
        if (seals !== null) raw = await seal(raw, seals);
        const count = otherFrom === '' ? 1 : 2;
        const domains = otherFrom === 'before' ? ['evil.test'] : ['victim.test'];
        expect(judge('checked', await check(raw, facts), { count, domains }).verdict).toBe('failed');
      }),
      { numRuns: runs(400) },
    );
  });
});
