/**
 * Time belongs to the database: what is due, expires, is leased or deleted is decided by its now(). The clock of a process is read only where
 * these lists say why it may be: the first for the clock of the machine, the second for `clock()`, which follows the database's with a few
 * seconds' delay. Whatever passes within one process is measured by `performance.now()`.
 */
import { describe, expect, it } from 'vitest';
import { allSources } from '../helpers/sources.ts';

const MACHINE_CLOCK =
  /\bDate\.now\b|\bnew Date\b(?!\()|\bnew Date\(\)|(?<!new )(?<![\w.$])Date\(\)|\bperformance\.timeOrigin\b/;
const DATABASE_CLOCK = /\bclock\(\)/;

const MAY_READ_MACHINE_CLOCK: Readonly<Record<string, string>> = {
  'connectors/oauth2/account-tokens.ts': 'the text of a warning',
  'connectors/oauth2/token-endpoint.ts': 'dates an assertion, which a provider checks by its own clock',
  'areas/doctor/inspect-server.ts': 'the doctor compares it with that of the database',
  'connectors/smtp-out/outbox-transport.ts': 'names a file of the outbox folder, in which nothing is sent',
  'cli/api/format.ts': 'shows people how long ago something was',
  'cli/backup.ts': 'the comment in a new key file',
  'cli/dkim.ts': 'proposes the name of a new selector',
  'cli/doctor/check-data-folder.ts': 'shows the age of files of this machine',
  'cli/doctor/check-program.ts': 'advice about the end of a version of Node.js',
  'cli/doctor/check-storage.ts': 'the doctor compares it with that of the storage',
  'cli/import.ts': 'names the report of an import',
  'cli/keys.ts': 'an early warning, and a column for people; the service decides',
  'cli/login-link.ts': 'an early answer; the service checks the key again when the link is used',
  'service/certificate-end.ts': 'a certificate is valid by the clock of the machine that checks it',
  'service/create-clock-guard.ts': 'it is what the guard compares with the clock of the database',
  'service/service.ts': 'a certificate is valid by the clock of the machine that checks it',
};

const MAY_READ_DATABASE_CLOCK: Readonly<Record<string, string>> = {
  'areas/drafts/draft-routes.ts': 'the answer contains the time of the deletion',
  'areas/emails/signed-image-route.ts': 'how long a browser may keep an image',
  'api/health/health-routes.ts': 'the answer contains the time, and the age of what readiness found',
  'connectors/remote-images/image-cache.ts':
    'files of a cache, whose dates are those of the disk; they may go early',
  'connectors/tls/certificate-files.ts': 'a certificate is valid by the clock of the machine that checks it',
  'connectors/webhooks/post-webhook.ts': 'dates and signs a request, and reads a date that an endpoint named',
  'service/examine-message.ts': 'the Date of a message',
  'platform/base/clock-guard.ts': 'a moment that the database must not pass before this process knows it',
  'areas/backup/make-backup.ts': 'the manifest contains the time of the end',
  'areas/emails/image-urls.ts': 'signed addresses of images contain their end, which no row has',
  'areas/erase/deletion-operations.ts': 'the answer contains the time of the deletion',
  'platform/files/clean-files.ts':
    'dates of files are those of the storage; requireTime comes before any is deleted',
  'platform/access/key-ring.ts': 'a copy of the keys is checked without a statement for each request',
  'areas/keys/manage-keys.ts': 'refuses an end that has passed; such a key would open nothing',
  'areas/mailboxes/account-operations.ts': 'the answer contains the time of the deletion',
  'areas/mailboxes/sync-mailbox.ts': 'the first day of mail that a new account takes',
  'areas/receive/arrival.ts': 'measures how long a mail took, for statistics',
  'areas/receive/match-sent-copy.ts': 'how long a copy of a send waits for its record; it is kept either way',
  'areas/receive/receive-known.ts': 'dates the arrival of a mail',
  'areas/receive/receive-message.ts': 'dates the arrival of a mail',
  'areas/send/hand-over-claim.ts': 'dates an attempt',
  'areas/send/hand-over.ts': 'dates an attempt',
  'areas/send/prepare-send.ts':
    'dates the message, its Message-ID and signature; refuses a send_at that has passed',
  'areas/send/prepare-written.ts': 'dates the signature of the message, and the beginning of its latency',
  'areas/sessions/session-ring.ts': 'a copy of the sessions is checked without a statement for each request',
  'areas/statistics/use-cases.ts': 'the end of a report whose caller names none',
  'areas/submission/read-written.ts': 'dates a message that has no Date, and its Message-ID',
  'areas/templates/operations.ts': 'the answer contains the time of the deletion',
  'areas/webhooks/operations.ts': 'the answer contains the time of the deletion',
  'areas/webhooks/webhooks.ts': 'the end of the old secret is sealed with it, and so is no column',
};

/** The lines of code, without comments, that a pattern is found in. */
function linesWith(pattern: RegExp, text: string): readonly string[] {
  return text
    .replaceAll(/(?<=^|\s)\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/.*$/, ''))
    .filter((line) => pattern.test(line));
}

const filesWith = (pattern: RegExp): readonly string[] =>
  allSources()
    .filter(({ text }) => linesWith(pattern, text).length > 0)
    .map(({ file }) => file);

describe('the clock of a process', () => {
  it('is read only where it decides nothing that belongs to the database', () => {
    expect(filesWith(MACHINE_CLOCK)).toEqual(Object.keys(MAY_READ_MACHINE_CLOCK).sort());
  });

  it('is followed to the database only for the record, and where a few seconds do not matter', () => {
    expect(filesWith(DATABASE_CLOCK)).toEqual(Object.keys(MAY_READ_DATABASE_CLOCK).sort());
  });

  it.each([
    'const dueAt = new Date(Date.now() + delayMs);',
    'const now = new Date();',
    'const now = new Date;',
    'const text = Date();',
    'const read = Date.now;',
    'const wall = performance.timeOrigin + performance.now();',
  ])('is found in %s', (line) => {
    expect(linesWith(MACHINE_CLOCK, `/** new Date() */\n// Date.now()\n${line}\n`)).toEqual([line]);
  });

  it('is not mistaken for a moment that is given, nor for the steady clock', () => {
    const text =
      'const at = new Date(row.at);\nconst from = performance.now();\nconst day: Date = toDate();\n';
    expect(linesWith(MACHINE_CLOCK, text)).toEqual([]);
    expect(linesWith(DATABASE_CLOCK, text)).toEqual([]);
  });

  it('that is injected is found as well', () => {
    expect(linesWith(DATABASE_CLOCK, 'const until = ports.clock().getTime() + ms;')).toHaveLength(1);
  });
});
