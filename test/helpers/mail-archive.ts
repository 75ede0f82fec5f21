/**
 * Real mail for tests: from .ci/fetch-mail.sh, or from the folder named by MAIL_ARCHIVE. It holds files with one message each, and mbox
 * files.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isMboxStart } from '../../src/core/mbox/split-mbox.ts';
import { identityOf } from '../../src/core/message/identity.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import { splitMbox } from './mbox.ts';
import { skipFor } from './skip.ts';

const FETCHED = '/var/cache/email-worker-test-mail';

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutMailArchive = (): boolean =>
  skipFor('tests on real mail', hasMailArchive() ? null : `${folder()} is missing: run .ci/fetch-mail.sh`);

/** True if there is real mail; for tests that can do without it. */
export function hasMailArchive(): boolean {
  return existsSync(folder());
}

/** Every message in a fixed order, including duplicates. */
export function readMailArchive(): readonly Buffer[] {
  return readdirSync(folder(), { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder(), name))
    .filter((file) => statSync(file).isFile())
    .sort()
    .map((file) => readFileSync(file))
    .flatMap((bytes) =>
      isMboxStart(bytes)
        ? splitMbox(bytes.toString('latin1')).map((text) => Buffer.from(text, 'latin1'))
        : [bytes],
    )
    .filter(isMail);
}

/** The first message with each Message-ID. */
export function firstOfEach(raws: readonly Buffer[]): readonly Buffer[] {
  const seen = new Set<string>();
  return raws.filter((raw) => {
    const { messageId } = identityOf(parseMessage(raw));
    return !seen.has(messageId) && seen.add(messageId);
  });
}

const folder = (): string => process.env.MAIL_ARCHIVE ?? FETCHED;

/** False for notes about the mail, which lie beside it. */
function isMail(raw: Buffer): boolean {
  const { from, messageId, date } = parseMessage(raw);
  return from.length > 0 && (messageId !== null || date !== null);
}
