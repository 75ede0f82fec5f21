/** `email-worker dkim`: makes keys that sign mail, prints their DNS records, and checks the published ones. */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { AccountConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import { dkimRecord, formatTxtRecord, suggestedRecords } from '../core/delivery/sender-records.ts';
import { defineCommand, UsageError, type CommandResult } from './command.ts';
import { printable, type Output } from './output.ts';
import { checkSenderRecords, hostOf } from '../service/sender-dns.ts';
import { createResolver } from './resolver.ts';

const RSA_BITS = 2048;
const KINDS = { good: 'good  ', wrong: 'WRONG ', advice: 'advice' } as const;
const TYPES = ['both', 'rsa', 'ed25519'] as const;

export const dkimCommand = defineCommand({
  name: 'dkim',
  summary: 'Creates DKIM keys, prints their DNS records, and checks them.',
  description:
    'generate creates an RSA key and an Ed25519 key, each in a file that only this user can read, and never replaces a file. It ' +
    'prints the DNS records and the setting. Publish the records first; change the setting when dkim check finds them.\n\n' +
    'show prints the records of the configured keys, with initial records for SPF and DMARC.\n\n' +
    'check looks the records up and lists errors. The exit code is 1 when there are any.\n\n' +
    'To change keys: generate new ones, publish their records, set them, and keep the old records in DNS until all mail with ' +
    'their signatures is delivered. Scheduled mail is signed when it is accepted.',
  arguments: [
    {
      name: 'action',
      meaning: '`generate`, `show` or `check`.',
      required: true,
      repeated: false,
      completes: ['generate', 'show', 'check'],
    },
  ],
  options: {
    account: {
      type: 'string',
      value: 'id',
      meaning: 'The account. Default: the first one; with show and check, all.',
    },
    selector: {
      type: 'string',
      value: 'name',
      meaning: 'generate: prefix of the selectors. Default: mail and the month, such as mail202601.',
    },
    type: {
      type: 'string',
      value: 'type',
      completes: TYPES,
      meaning: 'generate: rsa, ed25519 or both. Default: both.',
    },
    dir: {
      type: 'string',
      value: 'folder',
      completes: 'files',
      meaning: 'generate: folder for the keys. Default: `DATA_DIR/dkim`.',
    },
    resolver: {
      type: 'string',
      value: 'address',
      meaning: 'check: DNS server, such as 1.1.1.1 or 127.0.0.1:5353. Default: that of this machine.',
    },
  },
  examples: [
    { line: 'dkim generate', meaning: 'Creates keys, and prints the setting and the DNS records.' },
    { line: 'dkim check --resolver 1.1.1.1', meaning: 'Checks whether the records are published.' },
  ],
  async run(values, [action], { config, output }) {
    const accounts = chosenAccounts(config, values.account);
    if (action === 'generate') return generate(values, accounts[0] ?? config.accounts[0], config, output);
    const signing = accounts.filter(({ dkim }) => dkim !== null);
    if (action !== 'show' && action !== 'check')
      throw new UsageError('<action> must be generate, show or check');
    if (signing.length === 0) {
      output.note(
        'no account signs its mail: set DKIM_KEYS, or dkim in ACCOUNTS_FILE; dkim generate makes the keys',
      );
      return 'failed';
    }
    if (action === 'show') {
      for (const account of signing) show(account, output);
      return 'done';
    }
    const resolver = createResolver(values.resolver === undefined ? [] : [values.resolver]);
    let result: CommandResult = 'done';
    for (const account of signing) {
      for (const finding of await checkSenderRecords(account, resolver)) {
        output.print(printable(`${KINDS[finding.kind]}  ${account.id}  ${finding.name}: ${finding.text}`));
        if (finding.kind === 'wrong') result = 'failed';
      }
    }
    return result;
  },
});

function chosenAccounts({ accounts }: Config, id: string | undefined): readonly AccountConfig[] {
  if (id === undefined) return accounts;
  const account = accounts.find((one) => one.id === id);
  if (account === undefined) throw new UsageError(`there is no account ${id}`);
  return [account];
}

interface GenerateOptions {
  readonly selector?: string | undefined;
  readonly type?: string | undefined;
  readonly dir?: string | undefined;
}

async function generate(
  {
    selector = `mail${new Date().toISOString().slice(0, 7).replace('-', '')}`,
    type = 'both',
    dir,
  }: GenerateOptions,
  account: AccountConfig,
  config: Config,
  output: Output,
): Promise<CommandResult> {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?$/.test(selector)) {
    throw new UsageError('--selector must be lower-case letters, digits and -, at most 42');
  }
  if (!TYPES.some((known) => known === type))
    throw new UsageError(`--type must be one of ${TYPES.join(', ')}`);
  const folder = path.resolve(dir ?? path.join(config.dataDir, 'dkim'));
  const keys = (['rsa', 'ed25519'] as const)
    .filter((one) => type === 'both' || type === one)
    .map((one) => ({
      type: one,
      selector: `${selector}-${one}`,
      file: path.join(folder, `${selector}-${one}.pem`),
    }));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Checked before the first file is written.
  for (const { file } of keys) {
    const exists = await access(file).then(
      () => true,
      () => false,
    );
    if (exists) throw new UsageError(`${file} is there already; choose another --selector`);
  }
  const domain = account.dkim?.domain ?? account.from.domain;
  const records: string[] = [];
  for (const key of keys) {
    const privateKey = await makeKey(key.type);
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(key.file, pem, { flag: 'wx', mode: 0o600 });
    records.push(formatTxtRecord(dkimRecord(domain, key.selector, privateKey)));
  }
  output.print('; DNS records:');
  for (const record of records) output.print(record);
  output.print('');
  output.print(`DKIM_KEYS=${keys.map((key) => `${key.selector}=${key.file}`).join(',')}`);
  const object = { domain, keys: Object.fromEntries(keys.map((key) => [key.selector, key.file])) };
  output.print(`or, in ACCOUNTS_FILE: "dkim": ${JSON.stringify(object)}`);
  return 'done';
}

async function makeKey(type: 'rsa' | 'ed25519'): Promise<KeyObject> {
  const generatePair = promisify(generateKeyPair);
  const { privateKey } =
    type === 'rsa' ? await generatePair('rsa', { modulusLength: RSA_BITS }) : await generatePair('ed25519');
  return privateKey;
}

function show({ id, from, smtpUrl, dkim }: AccountConfig, output: Output): void {
  if (dkim === null) return;
  output.print(`; account ${id}: the keys that sign`);
  for (const { selector, privateKey } of dkim.keys) {
    output.print(formatTxtRecord(dkimRecord(dkim.domain, selector, privateKey)));
  }
  output.print('; SPF and DMARC, where there are none yet');
  for (const record of suggestedRecords(from.domain, hostOf(smtpUrl))) output.print(formatTxtRecord(record));
}
