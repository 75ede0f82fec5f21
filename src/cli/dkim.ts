/** `email-worker dkim`: makes keys that sign mail, prints the DNS records that go with them, and checks the published ones. */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import type { AccountConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import { organizationalDomain } from '../core/address/organizational-domain.ts';
import {
  dkimRecord,
  formatTxtRecord,
  judgeDkimRecord,
  judgeDmarc,
  judgeSpf,
  suggestedRecords,
  type RecordFinding,
} from '../core/delivery/sender-records.ts';
import { defineCommand, UsageError, type CommandResult } from './command.ts';
import { printable, type Output } from './output.ts';

const RSA_BITS = 2048;
/** How long a DNS server may take to answer, in ms, and how often it is asked. */
const DNS_PATIENCE = { timeout: 5000, tries: 2 } as const;
/** What DNS says of a name without TXT records. */
const NO_RECORD: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);
const KINDS = { good: 'good  ', wrong: 'WRONG ', advice: 'advice' } as const;
const TYPES = ['both', 'rsa', 'ed25519'] as const;

export const dkimCommand = defineCommand({
  name: 'dkim',
  summary: 'Makes keys that sign mail (DKIM), prints the DNS records that go with them, and checks them.',
  description:
    'generate makes a private key of RSA and one of Ed25519, each in a file that only this user can read; no file is ever ' +
    'replaced. It prints the setting that has the service sign with them, and the DNS records. Publish those first, and change ' +
    'the setting when dkim check finds them.\n\n' +
    'show prints the records of the keys that are set, with records of SPF and DMARC to begin with.\n\n' +
    'check asks DNS for them and says of each what is wrong. It fails when something is.\n\n' +
    'To change keys: generate others, publish their records, set them, and leave the old records in DNS for as long as mail ' +
    'that they signed waits or is under way: also scheduled mail is signed when it is taken.',
  arguments: [{ name: 'action', meaning: '`generate`, `show` or `check`.', required: true, repeated: false }],
  options: {
    account: {
      type: 'string',
      value: 'id',
      meaning: 'The account. Default: the first one; with show and check, all.',
    },
    selector: {
      type: 'string',
      value: 'name',
      meaning: 'generate: what the selectors begin with. Default: mail and the month, such as mail202601.',
    },
    type: { type: 'string', value: 'type', meaning: 'generate: rsa, ed25519 or both. Default: both.' },
    dir: {
      type: 'string',
      value: 'folder',
      meaning: 'generate: where the keys are written. Default: `DATA_DIR/dkim`.',
    },
    resolver: {
      type: 'string',
      value: 'address',
      meaning:
        'check: the DNS server to ask, such as 1.1.1.1 or 127.0.0.1:5353. Default: the one of this machine.',
    },
  },
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
    const resolver = createResolver(values.resolver);
    let result: CommandResult = 'done';
    for (const account of signing) {
      for (const finding of await check(account, resolver)) {
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
  // Found before the first one is written.
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

const hostOf = (smtpUrl: string | null): string | null =>
  smtpUrl === null ? null : new URL(smtpUrl).hostname;

async function check(
  { from, smtpUrl, dkim }: AccountConfig,
  resolver: Resolver,
): Promise<readonly RecordFinding[]> {
  if (dkim === null) return [];
  const { domain } = from;
  const findings: RecordFinding[] = [];
  const judge = async (name: string, toFinding: (published: readonly string[]) => RecordFinding) => {
    const answer = await lookUp(resolver, name);
    findings.push(
      'failure' in answer ? { kind: 'wrong', name, text: answer.failure } : toFinding(answer.records),
    );
  };
  for (const { selector, privateKey } of dkim.keys) {
    const expected = dkimRecord(dkim.domain, selector, privateKey);
    await judge(expected.name, (published) => judgeDkimRecord(expected, published));
  }
  await judge(domain, (published) => judgeSpf(domain, hostOf(smtpUrl), published));
  const name = await dmarcName(resolver, domain);
  await judge(name, (published) =>
    judgeDmarc({ fromDomain: domain, dkimDomain: dkim.domain, name, published }),
  );
  return findings;
}

/** RFC 7489 §6.6.3: without a record of its own, a domain has the one of the domain that was registered. */
async function dmarcName(resolver: Resolver, domain: string): Promise<string> {
  const own = await lookUp(resolver, `_dmarc.${domain}`);
  const has = 'failure' in own || own.records.some((value) => value.startsWith('v=DMARC1'));
  return `_dmarc.${has ? domain : organizationalDomain(domain)}`;
}

type Answer = { readonly records: readonly string[] } | { readonly failure: string };

async function lookUp(resolver: Resolver, name: string): Promise<Answer> {
  try {
    return { records: (await resolver.resolveTxt(name)).map((strings) => strings.join('')) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (NO_RECORD.has(code)) return { records: [] };
    return { failure: `DNS could not be asked: ${code}` };
  }
}

function createResolver(server: string | undefined): Resolver {
  const resolver = new Resolver(DNS_PATIENCE);
  if (server === undefined) return resolver;
  const [, host = ''] = /^\[?([^\]]+?)\]?(?::\d{1,5})?$/.exec(server) ?? [];
  if (isIP(server) === 0 && isIP(host) === 0)
    throw new UsageError('--resolver must be an address, such as 1.1.1.1');
  resolver.setServers([server]);
  return resolver;
}
