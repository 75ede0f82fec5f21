/** Dockerfile, .dockerignore and compose.yaml, as far as they can be checked without an engine. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig, VARIABLES } from '../../src/config/config.ts';
import { createCertificate } from '../helpers/certificate.ts';
import { last, readHealthCheck, readStages } from './dockerfile.ts';
import { listPackedFiles, ROOT } from './packed-files.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const KNOWN = new Set(VARIABLES.map(({ name }) => name));
/** Below the ports that the system gives to servers; the service that had it (RFC 1060, compressnet) no longer exists. */
const UNUSED_PORT = 2;
const IMAGE_ROOT = '/opt/email-worker/';

/** `NAME=value` lines of the nth block of the guide that has such lines. */
function readGuide(index: number): Record<string, string> {
  const blocks = [...read('docs/hosting/container.md').matchAll(/```sh\n((?:[A-Z_]+=.*\n)+)```/g)];
  const lines = blocks[index]![1]!.trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

describe('the Dockerfile', () => {
  const stages = readStages();
  const image = stages.at(-1)!;

  it('runs on the system that it builds on, on a version that package.json allows', () => {
    const [from] = new Set(stages.map((stage) => stage[0]!.text.split(' ')[0]));
    expect(stages.map((stage) => stage[0]!.text)).toEqual([`${from} AS build`, from]);
    expect(Number(/^node:(\d+)-/.exec(from!)?.[1])).toBeGreaterThanOrEqual(22);
  });

  it('copies what is there and is not left out', () => {
    const sources = stages[0]!.flatMap(({ name, text }) =>
      name === 'COPY' ? text.split(' ').slice(0, -1) : [],
    );
    expect(sources).toContain('package-lock.json');
    expect(sources.filter((source) => !existsSync(path.join(ROOT, source)) || isIgnored(source))).toEqual([]);
  });

  it('starts what the package holds, and calls it by its name', { tags: ['long'] }, async () => {
    const [, target = '', link = ''] = /\bln -s (\S+) (\S+)/.exec(last(image, 'RUN')) ?? [];
    expect(await listPackedFiles()).toContain(target.replace(IMAGE_ROOT, ''));
    expect(target.startsWith(IMAGE_ROOT)).toBe(true);
    expect(path.basename(link)).toBe('email-worker');
    expect(JSON.parse(last(image, 'ENTRYPOINT'))).toEqual(['node', link]);
  });

  it('runs as a user without rights, who owns the volume', () => {
    const user = last(image, 'USER');
    expect(user).toBe('node');
    const [, owner, group, folder] = /install -d -o (\S+) -g (\S+) -m 700 (\S+)/.exec(last(image, 'RUN'))!;
    expect([owner, group, folder]).toEqual([user, user, last(image, 'VOLUME')]);
  });

  it('sets variables that there are, which the service takes', () => {
    const variables = Object.fromEntries(
      last(image, 'ENV')
        .split(' ')
        .map((one) => one.split('=') as [string, string]),
    );
    expect(Object.keys(variables).filter((name) => !KNOWN.has(name))).toEqual([]);
    const config = loadConfig(variables, last(image, 'WORKDIR'));
    expect(config.dataDir).toBe(last(image, 'VOLUME'));
    expect(String(config.port)).toBe(last(image, 'EXPOSE'));
  });

  it.each([
    ['a process that answers', {}, 200, 0],
    ['a process that fails', {}, 503, 1],
    // By a name that need not be in the certificate.
    ['a process that answers over TLS', { TLS_CERT_FILE: 'cert.pem' }, 200, 0],
    ['a process that fails over TLS', { TLS_CERT_FILE: 'cert.pem' }, 503, 1],
  ])('has a health check that tells of %s', async (_, env, status, code) => {
    const asked: string[] = [];
    const answer: RequestListener = (request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(status, { connection: 'close' }).end('{}');
    };
    const isTls = 'TLS_CERT_FILE' in env;
    const server = isTls
      ? createTlsServer(createCertificate({ names: ['mail.example.com'] }), answer)
      : createServer(answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await checkHealth(port, env)).toBe(code);
    expect(asked).toEqual(['/api/health']);
    server.close();
    await once(server, 'close');
  });

  it('has a health check that tells of a port where nothing listens', async () => {
    expect(await checkHealth(UNUSED_PORT)).toBe(1);
  });

  async function checkHealth(port: number, env: Record<string, string> = {}): Promise<number> {
    const [, ...args] = readHealthCheck(image);
    const child = spawn(process.execPath, args, { env: { PORT: String(port), ...env }, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  }
});

/** True if .dockerignore excludes the path: one of its lines names the path, or a folder above it. */
function isIgnored(file: string): boolean {
  const parts = file.split('/');
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  return read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .some((line) => {
      const pattern = line
        .replaceAll('.', '\\.')
        .replaceAll('**/', '(?:.+/)?')
        .replaceAll(/(?<!\))\*/g, '[^/]*');
      return paths.some((one) => new RegExp(`^${pattern}$`).test(one));
    });
}

describe('.dockerignore', () => {
  it.each([
    ['secrets', '.env'],
    ['secrets of more than one place', '.env.production'],
    ['data', 'data/api-secret'],
    ['the history', '.git/config'],
    ['packages of this machine', 'node_modules/pg/package.json'],
    ['those of a workspace', 'page/node_modules/react/package.json'],
    ['what was built here', 'dist/bundle/main.js'],
    ['what was built of a workspace', 'clients/typescript/dist/index.js'],
  ])('leaves out %s: %s', (_, file) => expect(isIgnored(file)).toBe(true));

  it.each([
    'package-lock.json',
    'tsconfig.build.json',
    'scripts/prepare.mjs',
    'src/main.ts',
    'page/index.html',
    'page/build/compress.mjs',
    'clients/typescript/src/index.ts',
    'docs/configuration.md',
    'ops/systemd/email-worker.service',
  ])('leaves in %s', (file) => {
    expect(existsSync(path.join(ROOT, file))).toBe(true);
    expect(isIgnored(file)).toBe(false);
  });
});

interface Service {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly env_file?: string;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
  readonly depends_on?: Record<string, unknown>;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Record<string, Service>;
  readonly volumes: Record<string, unknown>;
  readonly configs: Record<string, unknown>;
}

/** With `${NAME:-default}` and `${NAME:?message}` replaced, as Compose does. */
function readCompose(values: Record<string, string>): Compose {
  const text = read('compose.yaml').replaceAll(
    /\$\{(\w+):([-?])([^}]*)\}/g,
    (_, name: string, kind: string, rest: string) => {
      const value = values[name] ?? '';
      if (value === '' && kind === '?') throw new Error(`${name}: ${rest}`);
      return value === '' ? rest : value;
    },
  );
  return parse(text) as Compose;
}

describe('compose.yaml', () => {
  const settings = readGuide(0);
  const compose = readCompose(settings);
  const own = compose.services['email-worker']!;

  /** The service's configuration, with the values that the guide puts into .env. */
  const configOf = (dotEnv: Record<string, string>) =>
    loadConfig({ ...dotEnv, ...readCompose(dotEnv).services['email-worker']!.environment }, '/data');

  it('wants a password for the database', () => {
    expect(() => readCompose({})).toThrow('POSTGRES_PASSWORD: set it in the file .env');
  });

  it('gives the service a database that is there, with the password of that', () => {
    const url = new URL(configOf(settings).databaseUrl!);
    const { environment } = compose.services[url.hostname]!;
    expect(environment).toEqual({
      POSTGRES_USER: url.username,
      POSTGRES_PASSWORD: url.password,
      POSTGRES_DB: url.pathname.slice(1),
    });
    expect(Object.keys(own.depends_on!)).toEqual([url.hostname]);
  });

  it('takes the settings of the guide, and no address of a developer', () => {
    const config = configOf({ ...settings, HOST: '127.0.0.1', PORT: '4000', DATA_DIR: './data' });
    expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, dataDir: '/data' });
    expect(config.accounts[0].smtpUrl).toBe(settings['SMTP_URL']);
    expect(own.env_file).toBe('.env');
  });

  it('has a store and a mail server to try out, each in its profile', () => {
    const tried = { ...settings, ...readGuide(1) };
    const { services } = readCompose(tried);
    const config = configOf(tried);
    const { hostname } = new URL(config.accounts[0].smtpUrl!);
    expect(services[hostname]!.profiles).toEqual(['mail']);
    expect(config.blobUrl).toBe(tried['BLOB_URL']);
    const blobs = new URL(tried['BLOB_URL']!);
    const store = services[new URL(blobs.searchParams.get('endpoint')!).hostname]!;
    expect(store.profiles).toEqual(['s3']);
    expect(store.environment).toMatchObject({
      GARAGE_DEFAULT_BUCKET: blobs.hostname,
      GARAGE_DEFAULT_ACCESS_KEY: tried['AWS_ACCESS_KEY_ID'],
      GARAGE_DEFAULT_SECRET_KEY: tried['AWS_SECRET_ACCESS_KEY'],
    });
    expect(read('compose.yaml')).toContain(`s3_region = "${blobs.searchParams.get('region')}"`);
  });

  it('lets the service write to its volume and its temporary folder only', () => {
    expect(own.read_only).toBe(true);
    expect(own.tmpfs).toEqual(['/tmp']);
    expect(own.volumes).toEqual([`data:${last(readStages().at(-1)!, 'VOLUME')}`]);
  });

  it('waits for the end of a stop', () => {
    const { shutdownTimeoutMs } = configOf(settings);
    expect(parseInt(own.stop_grace_period!) * 1000).toBeGreaterThan(shutdownTimeoutMs);
  });

  it('is open to this machine alone, and names versions, volumes and files that there are', () => {
    const services = Object.values(compose.services);
    for (const port of services.flatMap(({ ports }) => ports ?? [])) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const { image } of services.filter((one) => one !== own)) expect(image).toMatch(/:v?\d/);
    const volumes = services.flatMap((one) => one.volumes ?? []).map((one) => one.split(':')[0]);
    expect(volumes.sort()).toEqual(Object.keys(compose.volumes).sort());
    const configs = services.flatMap((one) => one.configs ?? []).map(({ source }) => source);
    expect(configs).toEqual(Object.keys(compose.configs));
  });
});
