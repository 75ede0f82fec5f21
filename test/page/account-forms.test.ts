/** The decisions behind the dialogs about accounts: what is typed becomes a request, and what the service answers becomes words. */
import { describe, expect, it } from 'vitest';
import type { Account, AccountSettings } from 'email-worker-client';
import {
  changeOf,
  conflictsOf,
  isEmpty,
  isIncomplete,
  toChangeRequest,
  type EditForm,
  type State,
} from '../../page/src/features/operate/accounts/account-change.ts';
import {
  isWithoutText,
  readAbsence,
  toAbsence,
} from '../../page/src/features/operate/accounts/absence-form.ts';
import {
  newCaptureForm,
  readCapture,
  sortFolders,
  toCapture,
  withShown,
} from '../../page/src/features/operate/accounts/capture-form.ts';
import { fieldToCorrect, toSteps } from '../../page/src/features/operate/accounts/findings.ts';
import { healthOf, leftOutOf, repairsOf } from '../../page/src/features/operate/accounts/health.ts';
import {
  readServers,
  serverProblems,
  smtpChoices,
  toServers,
} from '../../page/src/features/operate/accounts/log-in-form.ts';
import {
  fromWith,
  idFor,
  NEW_MAILBOX,
  toRequest,
  withAddress,
  withCandidate,
} from '../../page/src/features/operate/accounts/mailbox-form.ts';
import { fieldOf, localProblems } from '../../page/src/features/operate/accounts/problems.ts';
import {
  areTogether,
  readServer,
  toUrl,
  withSecurity,
} from '../../page/src/features/operate/accounts/server-address.ts';
import { accountsDe } from '../../page/src/i18n/accounts-de.ts';
import { accountsEn } from '../../page/src/i18n/accounts-en.ts';
import { FINDING_CODES, type FindingCode } from '../../src/areas/accounts/account-ports.ts';

describe('the address of a server', () => {
  it.each([
    ['imaps://imap.example.com:993', 'imaps://u%40x:p%2F%3A@imap.example.com:993'],
    [
      'smtp://smtp.example.com:587?starttls=required',
      'smtp://u%40x:p%2F%3A@smtp.example.com:587?starttls=required',
    ],
    // What an account of before has stays: without a word about STARTTLS, it is used if it is offered.
    ['smtp://smtp.example.com', 'smtp://u%40x:p%2F%3A@smtp.example.com:587'],
    ['imap://127.0.0.1:1143?starttls=off', 'imap://u%40x:p%2F%3A@127.0.0.1:1143?starttls=off'],
    ['imaps://[::1]?tls_verify=false', 'imaps://u%40x:p%2F%3A@[::1]:993?tls_verify=false'],
  ])('%s keeps all but the log-in', (text, expected) => {
    const scheme = text.startsWith('imap') ? 'imap' : 'smtp';
    expect(toUrl(scheme, readServer(scheme, text), { user: 'u@x', password: 'p/:' })).toBe(expected);
  });

  it('allows a password without encryption only where that was chosen', () => {
    const server = {
      host: 'mail.lan',
      port: '143',
      security: 'none',
      options: '',
      optionsHost: '',
    } as const;
    expect(toUrl('imap', server, { user: 'u', password: 'p' })).toBe(
      'imap://u:p@mail.lan:143?starttls=off&allow_plaintext_auth=true',
    );
    expect(toUrl('smtp', { ...server, port: '25' }, null)).toBe('smtp://mail.lan:25?starttls=off');
    expect(toUrl('imap', { ...server, host: ' ' }, null)).toBeNull();
  });

  it('trusts another host only as much as any other', () => {
    const known = readServer(
      'imap',
      'imap://bridge.lan?allow_plaintext_auth=true&tls_verify=false&tls_servername=x.lan&auth_method=LOGIN',
    );
    const logIn = { user: 'u', password: 'p' };
    expect(toUrl('imap', { ...known, port: '1143' }, logIn)).toContain('tls_verify=false');
    expect(toUrl('imap', { ...known, host: 'imap.provider.test' }, logIn)).toBe(
      'imap://u:p@imap.provider.test:143?auth_method=LOGIN',
    );
  });

  it.each([
    ['imap.example.com', 'smtp.example.com', true],
    ['imap.example.com', 'smtp.other.com', false],
    ['imap.firm.co.uk', 'smtp.firm.co.uk', true],
    // Another company, which must not get the password.
    ['imap.firm.co.uk', 'smtp.relay.co.uk', false],
    ['imap.web.de', 'smtp.web.de', true],
    ['10.0.0.1', '10.0.0.2', false],
  ])('%s and %s belong to one provider: %s', (imap, smtp, expected) => {
    expect(areTogether(readServer('imap', `imaps://${imap}`), readServer('smtp', `smtps://${smtp}`))).toBe(
      expected,
    );
  });

  it('has the usual port of its encryption, unless another was typed', () => {
    const tls = readServer('imap', null);
    expect(withSecurity('imap', tls, 'starttls').port).toBe('143');
    expect(withSecurity('imap', { ...tls, port: '1993' }, 'starttls').port).toBe('1993');
  });
});

describe('a mailbox that is connected', () => {
  const typed = {
    ...withAddress(NEW_MAILBOX, 'sales@example.com', new Set()),
    imap: readServer('imap', 'imaps://imap.example.com'),
    smtp: readServer('smtp', 'smtps://smtp.example.com'),
    password: 'secret',
  };

  it('becomes a request with the fields of the API and no others', () => {
    expect(toRequest({ ...typed, name: 'Sales "EU"' })).toEqual({
      id: 'sales',
      from: '"Sales \\"EU\\"" <sales@example.com>',
      imap_url: 'imaps://sales%40example.com:secret@imap.example.com:993',
      smtp_url: 'smtps://sales%40example.com:secret@smtp.example.com:465',
      capture: {
        folders: null,
        never_addresses: null,
        never_subjects: null,
        internal_domains: null,
        leave_out_private: true,
        only_customers: null,
      },
    });
    expect(toRequest({ ...typed, smtpLogIn: 'none' }).smtp_url).toBe('smtps://smtp.example.com:465');
    const own = { smtpLogIn: 'own', smtpUser: 'relay', smtpPassword: 'x' } as const;
    expect(toRequest({ ...typed, ...own }).smtp_url).toBe('smtps://relay:x@smtp.example.com:465');
  });

  it('has no password where its owner consents', () => {
    const found = {
      source: 'provider',
      name: 'Google',
      log_in: 'consent',
      smtp_url: 'smtp://sales%40example.com@smtp.gmail.com:587',
      imap_url: 'imaps://sales%40example.com@imap.gmail.com:993',
      oauth2: { provider: 'google' },
      note: null,
    } as const;
    const request = toRequest(withCandidate(typed, found));
    expect(request.imap_url).toBe('imaps://sales%40example.com@imap.gmail.com:993');
    // A found server gets a log-in over TLS or not at all.
    expect(request.smtp_url).toBe('smtp://sales%40example.com@smtp.gmail.com:587?starttls=required');
    expect(request.oauth2).toEqual({ provider: 'google' });
    const issuer = { logIn: 'issuer', issuer: 'https://id.test', clientId: 'c', clientSecret: 's' } as const;
    expect(toRequest({ ...typed, ...issuer }).oauth2).toEqual({
      issuer: 'https://id.test',
      client_id: 'c',
      client_secret: 's',
    });
  });

  it('loses servers that were found for another address, and keeps the log-in that was typed', () => {
    expect(withCandidate({ ...typed, logIn: 'google' }, null)).toMatchObject({
      imap: { host: '' },
      smtp: { host: '' },
      logIn: 'password',
      password: 'secret',
    });
  });

  it('gets no rules where nothing is read', () => {
    expect(toRequest({ ...typed, imap: readServer('imap', null) })).not.toHaveProperty('capture');
  });

  it('keeps what was typed when its address is corrected', () => {
    const corrected = withAddress(
      { ...typed, user: 'own-user' },
      'support@example.org',
      new Set(['support']),
    );
    expect(corrected).toMatchObject({ id: 'support-example', user: 'own-user', password: 'secret' });
    expect(corrected.capture.internalDomains).toBe('example.org');
    const named = withAddress({ ...typed, id: 'my-id' }, 'support@example.org', new Set());
    expect(named).toMatchObject({ id: 'my-id', user: 'support@example.org' });
  });

  it.each([
    ['Über.Uns+x@example.com', [], 'uber-uns-x'],
    ['sales@example.com', ['sales'], 'sales-example'],
    ['sales@example.com', ['sales', 'sales-example'], 'sales-example-2'],
    ['settings@example.com', [], 'settings-example'],
    ['!@example.com', [], ''],
  ])('%s beside %j is called %j', (address, taken, id) => {
    expect(idFor(address, new Set(taken))).toBe(id);
  });

  it('names its sender only if there is a name', () => {
    expect(fromWith(' ', 'a@example.com')).toBe('a@example.com');
  });
});

describe('a problem', () => {
  it.each([
    ['/smtp_url', 'smtpHost'],
    ['/imap_url', 'imapHost'],
    ['/capture.never_addresses', 'neverAddresses'],
    ['/capture/folders/3', 'folders'],
    ['/capture', 'captureSwitches'],
    ['/addresses[0].address', 'addresses'],
    ['/oauth2/client_secret', 'clientSecret'],
    ['/oauth2', 'clientId'],
    ['/id', 'id'],
    ['/identity', null],
    ['/dkim', null],
  ])('with %s is shown at %s', (named, field) => {
    expect(fieldOf(named)).toBe(field);
  });

  it('is found in the form before the service is asked', () => {
    expect(localProblems(NEW_MAILBOX)).toEqual({ imapHost: 'noServer', user: 'needed', password: 'needed' });
    const sends = { ...NEW_MAILBOX, smtp: { ...NEW_MAILBOX.smtp, host: 'x', port: '70000' } };
    expect(localProblems({ ...sends, smtpLogIn: 'none' })).toEqual({ smtpPort: 'port' });
    expect(localProblems({ ...sends, smtpLogIn: 'own' })).toEqual({
      smtpPort: 'port',
      smtpUser: 'needed',
      smtpPassword: 'needed',
    });
    expect(
      localProblems({ ...sends, logIn: 'issuer', user: 'u', smtp: { ...sends.smtp, port: '465' } }),
    ).toEqual({ issuer: 'needed', clientId: 'needed' });
  });
});

describe('a finding', () => {
  it('is explained in words of each language, unless it is about DNS', () => {
    const explained = FINDING_CODES.filter((code) => code !== 'dns_record' && code !== 'not_signed');
    for (const { check } of [accountsEn, accountsDe])
      expect(Object.keys(check.faults).toSorted()).toEqual([...explained, 'other'].toSorted());
  });

  const finding = (
    step: 'send' | 'read' | 'dns',
    grade: 'ok' | 'warning' | 'problem',
    code: FindingCode | null = null,
  ) => ({
    step,
    grade,
    code,
    text: '',
    advice: null,
  });

  it('is shown with its step, the worst first, and leads to the field to correct', () => {
    const logIn = finding('send', 'problem', 'credentials_refused');
    const steps = toSteps([
      finding('dns', 'problem', 'dns_record'),
      logIn,
      finding('read', 'ok'),
      finding('read', 'warning', 'no_sent_mailbox'),
    ]);
    expect(steps.map(({ step, grade }) => [step, grade])).toEqual([
      ['read', 'warning'],
      ['send', 'problem'],
      ['dns', 'problem'],
    ]);
    expect(steps[0]?.faults[0]?.code).toBe('no_sent_mailbox');
    expect(fieldToCorrect(steps)).toBe('smtpPassword');
    expect(fieldToCorrect(toSteps([finding('read', 'problem', 'host_unknown')]))).toBe('imapHost');
    expect(fieldToCorrect(toSteps([finding('read', 'problem', 'token_refused')]))).toBeNull();
  });
});

const SETTINGS = {
  from: 'Sales <sales@example.com>',
  imap_server: 'imaps://imap.example.com:993',
  smtp_server: 'smtps://smtp.example.com:465',
  addresses: null,
  capture: null,
  oauth2: null,
} as unknown as AccountSettings;

const account = (more: object): Account =>
  ({
    id: 'sales',
    declared: false,
    state: 'active',
    settings: SETTINGS,
    from_address: { name: 'Sales', address: 'sales@example.com' },
    has_mailbox: true,
    reconnect: false,
    last_error: null,
    mailboxes: [],
    ...more,
  }) as unknown as Account;

const mailbox = (success: string | null, left = {}) => ({
  path: 'INBOX',
  left_at: null,
  last_success_at: success,
  last_error: null,
  counts: { left_out: { address: 0, subject: 0, internal: 0, private: 0, stranger: 0, ...left } },
});

describe('the health of an account', () => {
  const failed = (kind: string) => ({ last_error: { kind, reason: 'no', at: '2026-11-27T10:00:00Z' } });

  it.each([
    ['waiting', account({})],
    ['reading', account({ mailboxes: [mailbox(null)] })],
    ['working', account({ mailboxes: [mailbox('2026-11-27T11:00:00Z')] })],
    ['failing', account({ ...failed('connection'), mailboxes: [mailbox('2026-11-27T09:00:00Z')] })],
    // Errors are kept when they are over.
    ['working', account({ ...failed('connection'), mailboxes: [mailbox('2026-11-27T11:00:00Z')] })],
    ['paused', account({ ...failed('credentials'), state: 'paused', has_mailbox: false })],
    ['noAccess', account({ ...failed('credentials'), state: 'unavailable', reconnect: true })],
    ['unavailable', account({ state: 'unavailable' })],
    ['sendOnly', account({ has_mailbox: false })],
    ['removed', account({ state: 'removed' })],
  ])('%s', (health, given) => {
    expect(healthOf(given)).toBe(health);
  });

  it('leads to what helps, and to nothing that the service would refuse', () => {
    expect(repairsOf(account(failed('credentials')))).toEqual(['password', 'retry']);
    expect(repairsOf(account({ ...failed('credentials'), declared: true }))).toEqual(['retry']);
    expect(repairsOf(account(failed('service')))).toEqual(['retry']);
    expect(repairsOf(account({ reconnect: true }))).toEqual(['consent']);
    expect(repairsOf(account({ reconnect: true, declared: true }))).toEqual([]);
    expect(repairsOf(account({}))).toEqual([]);
  });

  it('counts what was left out in all mailboxes', () => {
    const two = [mailbox(null, { private: 1 }), mailbox(null, { private: 1, address: 5 })];
    expect(leftOutOf(account({ mailboxes: two }))).toEqual([
      ['address', 5],
      ['private', 2],
    ]);
  });
});

describe('what is recorded', () => {
  it('is the same after it was shown in a form', () => {
    const capture = {
      folders: ['Projects/*', '\\Archive'],
      never_addresses: ['*@bank.example'],
      never_subjects: null,
      internal_domains: ['example.com'],
      leave_out_private: true,
      only_customers: null,
    };
    expect(toCapture(readCapture(capture, ''))).toEqual(capture);
    expect(toCapture(readCapture(null, 'example.com'))).toBeNull();
    expect(toCapture({ ...newCaptureForm(''), leavesOutPrivate: false })).toBeNull();
    expect(toCapture({ ...newCaptureForm(''), folders: ['A'], otherFolders: ' A \n\nB' })?.folders).toEqual([
      'A',
      'B',
    ]);
  });

  it('has no folder that was chosen of another server', () => {
    const form = { ...newCaptureForm(''), folders: ['Projects', 'Archive'], otherFolders: 'Named' };
    const folders = [{ path: 'Archive', special_use: null }];
    expect(toCapture(withShown(form, folders))?.folders).toEqual(['Archive', 'Named']);
  });

  it('offers the likely folders first, and those that are always read not at all', () => {
    const folder = (path: string, use: string | null = null) => ({ path, special_use: use });
    const { always, choice } = sortFolders([
      folder('INBOX', '\\Inbox'),
      folder('Trash', '\\Trash'),
      folder('Sent', '\\Sent'),
      folder('Projects'),
    ]);
    expect(always.map(({ path }) => path)).toEqual(['INBOX', 'Sent']);
    expect(choice.map(({ path }) => path)).toEqual(['Projects', 'Trash']);
  });
});

describe('a change of an account', () => {
  const opened: EditForm = {
    name: 'Sales',
    addresses: [],
    capture: readCapture(null, 'example.com'),
    absence: readAbsence(null),
  };
  const base: State = {
    sender: { name: 'Sales', address: 'sales@example.com' },
    addresses: null,
    capture: null,
    out_of_office: null,
  };
  const change = (form: Partial<EditForm>) => changeOf(base, opened, { ...opened, ...form }, 'en');
  const stored = {
    address: 'a@example.com',
    name: null,
    reply_to: 'b@example.com',
    signature_text: 'Old',
    signature_html: null,
  };

  it('has what was changed alone', () => {
    expect(isEmpty(change({}))).toBe(true);
    expect(change({ name: 'Shop ' })).toEqual({ name: 'Shop' });
    expect(change({ capture: { ...opened.capture, onlyCustomers: true } })).toEqual({
      capture: { only_customers: true },
    });
    const named = change({ addresses: [{ address: 'a@example.com ', name: 'A', stored }] });
    expect(named).toEqual({ addresses: [{ ...stored, name: 'A' }] });
    expect(toChangeRequest(named, base)).toEqual(named);
    expect(toChangeRequest({ addresses: null }, { ...base, addresses: [stored] })).toEqual({
      addresses: null,
    });
  });

  describe('its absence', () => {
    const away = { isOn: true, from: '', until: '', subject: '', text: 'Back on Monday.' };
    const ABSENCE = {
      from: '2026-12-24T08:00:30.000Z',
      until: null,
      subject: null,
      language: 'de',
      text: 'Bin weg.',
      html: '<p>Bin weg.</p>',
    } as const;

    it('is set, changed and removed', () => {
      expect(change({ absence: away })).toEqual({
        out_of_office: {
          from: null,
          until: null,
          subject: null,
          language: 'en',
          text: 'Back on Monday.',
          html: null,
        },
      });
      expect(isWithoutText({ ...away, text: ' ' })).toBe(true);
      expect(isWithoutText({ ...away, isOn: false, text: '' })).toBe(false);
      const set = { ...base, out_of_office: ABSENCE };
      const known = { ...opened, absence: readAbsence(ABSENCE) };
      expect(isEmpty(changeOf(set, known, known, 'en'))).toBe(true);
      const off = { ...known, absence: { ...known.absence, isOn: false } };
      expect(changeOf(set, known, off, 'en')).toEqual({ out_of_office: null });
      expect(
        conflictsOf(
          set,
          { ...set, out_of_office: { ...ABSENCE, text: 'x' } },
          changeOf(set, known, off, 'en'),
        ),
      ).toEqual(['out_of_office']);
    });

    it('keeps what the form does not show: seconds, the language, and the HTML of the same text', () => {
      const form = readAbsence(ABSENCE);
      expect(toAbsence(form, ABSENCE, 'en')).toEqual(ABSENCE);
      expect(toAbsence({ ...form, text: 'Neu' }, ABSENCE, 'en')).toEqual({
        ...ABSENCE,
        text: 'Neu',
        html: null,
      });
      expect(toAbsence({ ...form, from: '' }, ABSENCE, 'en')?.from).toBeNull();
    });
  });

  it('removes no address because its field is blank', () => {
    expect(isIncomplete({ address: ' ', name: '', stored })).toBe(true);
    expect(isIncomplete({ address: '', name: 'Shop', stored: null })).toBe(true);
    expect(isIncomplete({ address: '', name: '', stored: null })).toBe(false);
    expect(isIncomplete({ address: 'c@example.com', name: '', stored })).toBe(false);
  });

  it('leaves what a colleague changed meanwhile, and contests only the same settings', () => {
    const mine = change({ name: 'Shop', capture: { ...opened.capture, onlyCustomers: true } });
    const theirs = { ...base, capture: { never_subjects: ['payslip'] } } as unknown as State;
    expect(conflictsOf(base, theirs, mine)).toEqual([]);
    expect(toChangeRequest(mine, theirs)).toEqual({
      from: '"Shop" <sales@example.com>',
      capture: { never_subjects: ['payslip'], only_customers: true },
    });
    const other = { ...base, sender: { name: 'Other', address: 'sales@example.com' } };
    expect(conflictsOf(base, other, mine)).toEqual(['name']);
    const off = { ...base, capture: { only_customers: true } } as unknown as State;
    // Both want the same.
    expect(conflictsOf(base, off, mine)).toEqual([]);
    expect(toChangeRequest({ capture: { only_customers: null } }, off)).toEqual({ capture: null });
  });

  it('leaves what the form does not show: the address of From, and signatures of other addresses', () => {
    const moved = { ...base, sender: { name: 'Sales', address: 'hello@example.com' } };
    const named = change({ name: 'Shop' });
    expect(conflictsOf(base, moved, named)).toEqual([]);
    expect(toChangeRequest(named, moved).from).toBe('"Shop" <hello@example.com>');
    const before = { ...base, addresses: [stored] };
    const signed = { ...base, addresses: [{ ...stored, signature_text: 'New' }] };
    const added = changeOf(
      before,
      opened,
      {
        ...opened,
        addresses: [
          { address: 'a@example.com', name: '', stored },
          { address: 'c@example.com', name: '', stored: null },
        ],
      },
      'en',
    );
    expect(conflictsOf(before, signed, added)).toEqual([]);
    expect(toChangeRequest(added, signed).addresses).toEqual([
      { ...stored, signature_text: 'New' },
      { address: 'c@example.com', name: null },
    ]);
    expect(conflictsOf(before, { ...base, addresses: [{ ...stored, name: 'B' }] }, added)).toEqual([
      'addresses',
    ]);
  });

  it('of the log-in asks for none of a server that sends without', () => {
    const sends = { ...SETTINGS, imap_server: null, smtp_server: 'smtp://relay.lan:25?starttls=off' };
    expect(smtpChoices(sends)).toEqual(['same', 'none']);
    const form = { ...readServers(account({}), sends), smtpLogIn: 'none' } as const;
    expect(serverProblems(form)).toEqual({});
    expect(toServers(form)).toEqual({ imap_url: null, smtp_url: 'smtp://relay.lan:25?starttls=off' });
    expect(smtpChoices({ ...SETTINGS, smtp_server: null })).toEqual([]);
  });

  it('of the log-in leaves sending alone when it is at another provider', () => {
    const typed = { user: 'u', password: 'p' };
    expect(toServers({ ...readServers(account({}), SETTINGS), ...typed })).toEqual({
      imap_url: 'imaps://u:p@imap.example.com:993',
      smtp_url: 'smtps://u:p@smtp.example.com:465',
    });
    const apart = { ...SETTINGS, smtp_server: 'smtps://relay.test:465' };
    expect(toServers({ ...readServers(account({}), apart), ...typed })).toEqual({
      imap_url: 'imaps://u:p@imap.example.com:993',
    });
  });
});
