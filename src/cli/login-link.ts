/** `email-worker login-link`: prints a link that logs a browser in. */
import { createKeyStore } from '../areas/keys/key-store.ts';
import { createSessionStore } from '../areas/sessions/session-store.ts';
import { loadOrCreateSecret } from '../connectors/data-dir/api-secret.ts';
import type { CheckedKey } from '../platform/access/key-ports.ts';
import { createLoginLink, type LinkHolder } from '../areas/sessions/login-links.ts';
import type { Config } from '../config/config.ts';
import { formatLoginLink } from '../core/sessions/session-token.ts';
import { checkConfigured } from '../service/open-certificates.ts';
import type { OpenData } from '../service/open-data.ts';
import { defineCommand, UsageError, type CommandResult } from './command.ts';
import { parseUrl } from './values.ts';

export const loginLinkCommand = defineCommand({
  name: 'login-link',
  summary: 'Prints a link that logs a browser in once within an hour.',
  description:
    'The link is the only line of the result. It logs in as `API_SECRET`, with all rights, or with `--key` as that key. Anyone ' +
    'with the link has the rights of the key: give it only to its user. The service may run meanwhile.',
  arguments: [],
  options: {
    key: { type: 'string', value: 'key', meaning: 'The id or the name of a key. Default: API_SECRET.' },
    url: {
      type: 'string',
      value: 'url',
      meaning:
        'URL at which browsers reach the service. Default: the name in the certificate, else 127.0.0.1, with the port of `PORT`.',
    },
  },
  examples: [{ line: 'login-link', meaning: 'Prints a link for the browser on this machine.' }],
  async run({ key, url }, _positionals, { config, output, open }): Promise<CommandResult> {
    const base = url === undefined ? findUrl(config) : parseUrl('--url', url).origin;
    const data = await open();
    const holder = key === undefined ? await secretHolder(config) : await keyHolder(data, key);
    const token = await createLoginLink({ ...data, store: createSessionStore(data.pool) }, holder);
    output.print(formatLoginLink(base, token));
    return 'done';
  },
});

function findUrl({ tls, port }: Config): string {
  return tls === null
    ? `http://127.0.0.1:${port}`
    : new URL(`https://${checkConfigured(tls).name ?? '127.0.0.1'}:${port}`).origin;
}

async function secretHolder({ apiSecrets, dataDir }: Config): Promise<LinkHolder> {
  const secret = apiSecrets[0] ?? (await loadOrCreateSecret(dataDir)).secret;
  return { kind: 'secret', secret };
}

async function keyHolder({ pool }: OpenData, wanted: string): Promise<LinkHolder> {
  const { keys } = (await createKeyStore(pool).readAll(null)) ?? { keys: [] };
  const isGood = ({ expiresAt, revokedAt }: CheckedKey) =>
    revokedAt === null && (expiresAt === null || expiresAt > new Date());
  const found = keys.filter((key) => (key.id === wanted || key.name === wanted) && isGood(key));
  const [one] = found;
  if (one === undefined) throw new UsageError(`no valid key is called ${wanted}; keys list shows them`);
  if (found.length > 1) throw new UsageError(`several keys are called ${wanted}; name the id of one`);
  return { kind: 'key', id: one.id, hash: one.hash };
}
