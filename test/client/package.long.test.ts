/** The package of the TypeScript client: its contents, its size, and that its README does what it says. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithSink } from '../helpers/running-service.ts';
import { TEST_SECRET, type ServiceProcess } from '../helpers/service-process.ts';
import { CLIENT, makeProject, readmeProgram, ROOT, run, type Project } from './package.ts';

/** Size of the whole client with its dependency, minified and compressed. */
/** docs/decisions/0054-size-of-the-client.md */
const MAX_GZIP_BYTES = 12_000;

const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;

/** The client's name for each operation. */
const METHODS = {
  erasePerson: 'client.erasures.create',
  getErasure: 'client.erasures.get',
  getRetention: 'client.retention.get',
  confirmRetention: 'client.retention.confirm',
  getClock: 'client.clock.get',
  confirmClock: 'client.clock.confirm',
  deleteEmail: 'client.emails.delete',
  deleteThread: 'client.threads.delete',
  deleteThreads: 'client.threads.deleteMany',
  cancelSend: 'client.emails.cancel',
  changeSend: 'client.emails.change',
  createKey: 'client.keys.create',
  getKey: 'client.keys.get',
  listKeys: 'client.keys.list',
  listAudit: 'client.audit.list',
  getStatistics: 'client.statistics.read',
  listImports: 'client.imports.list',
  changeKey: 'client.keys.change',
  revokeKey: 'client.keys.revoke',
  rotateKey: 'client.keys.rotate',
  openSession: 'client.sessions.open',
  getSession: 'client.sessions.current',
  endSession: 'client.sessions.end',
  endSessions: 'client.sessions.endAll',
  listSessions: 'client.sessions.list',
  endOneSession: 'client.sessions.endOne',
  explainPlacement: 'client.emails.placement',
  changeDraft: 'client.drafts.change',
  changeTemplate: 'client.templates.change',
  blockSender: 'client.blockedSenders.block',
  listBlockedSenders: 'client.blockedSenders.list',
  unblockSender: 'client.blockedSenders.unblock',
  createRule: 'client.rules.create',
  listRules: 'client.rules.list',
  getRule: 'client.rules.get',
  changeRule: 'client.rules.change',
  deleteRule: 'client.rules.delete',
  orderRules: 'client.rules.order',
  previewRule: 'client.rules.preview',
  createTemplate: 'client.templates.create',
  deleteTemplate: 'client.templates.delete',
  getTemplate: 'client.templates.get',
  listTemplates: 'client.templates.list',
  previewTemplate: 'client.templates.preview',
  createDraft: 'client.drafts.create',
  deleteDraft: 'client.drafts.delete',
  getDraft: 'client.drafts.get',
  getDraftAttachment: 'client.drafts.download',
  listDrafts: 'client.drafts.list',
  sendDraft: 'client.drafts.send',
  answerInvitation: 'client.emails.answerInvitation',
  forwardEmail: 'client.emails.forward',
  previewReply: 'client.emails.previewReply',
  replyToEmail: 'client.emails.reply',
  replyToAll: 'client.emails.replyAll',
  getAttachment: 'client.attachments.download',
  getImage: 'client.attachments.image',
  getSafeHtml: 'client.emails.html',
  completeAddresses: 'client.addresses.complete',
  getCustomer: 'client.customers.get',
  listCustomers: 'client.customers.list',
  getCustomerAddresses: 'client.customers.addresses',
  getEmail: 'client.emails.get',
  getHealth: 'client.health.live',
  getLatestEvent: 'client.events.latest',
  listEvents: 'client.events.list',
  getOpenApiDocument: 'client.health.openApiDocument',
  getRawEmail: 'client.emails.raw',
  getRawVariant: 'client.emails.rawVariant',
  getReadiness: 'client.health.ready',
  getSuppression: 'client.suppressions.get',
  getThread: 'client.threads.get',
  getVariant: 'client.emails.variant',
  liftSuppression: 'client.suppressions.lift',
  listAccounts: 'client.accounts.list',
  createAccount: 'client.accounts.create',
  checkAccount: 'client.accounts.check',
  findAccountSettings: 'client.accounts.findSettings',
  getAccount: 'client.accounts.get',
  changeAccount: 'client.accounts.change',
  deleteAccount: 'client.accounts.delete',
  pauseAccount: 'client.accounts.pause',
  resumeAccount: 'client.accounts.resume',
  requestConsent: 'client.accounts.requestConsent',
  findLeftOut: 'client.accounts.leftOut',
  resyncAccount: 'client.accounts.resync',
  previewCapture: 'client.accounts.previewCapture',
  removeLeftOut: 'client.accounts.removeLeftOut',
  getRemoval: 'client.accounts.removal',
  stopRemoval: 'client.accounts.stopRemoval',
  listAmbiguousClaims: 'client.customers.ambiguousClaims',
  listAmbiguousEmails: 'client.customers.ambiguousEmails',
  listCustomerEmails: 'client.customers.emails',
  listEmails: 'client.emails.list',
  listQuarantine: 'client.quarantine.list',
  listRefusedMerges: 'client.threads.refusedMerges',
  listSuppressions: 'client.suppressions.list',
  listUnsubscribes: 'client.unsubscribes.list',
  removeUnsubscribe: 'client.unsubscribes.remove',
  listThreads: 'client.threads.list',
  markThreadRead: 'client.threads.markRead',
  markThreadUnread: 'client.threads.markUnread',
  mergeThreads: 'client.threads.merge',
  moveEmails: 'client.threads.move',
  putCustomerAddresses: 'client.customers.setAddresses',
  addCustomerAddress: 'client.customers.addAddress',
  removeCustomerAddress: 'client.customers.removeAddress',
  receiveEmail: 'client.receive',
  resolveSend: 'client.emails.resolve',
  retrySentCopy: 'client.emails.retrySentCopy',
  retryQuarantined: 'client.quarantine.retry',
  retrySend: 'client.emails.retry',
  createUpload: 'client.uploads.create',
  sendBatch: 'client.sendBatch',
  sendEmail: 'client.send',
  splitThread: 'client.threads.split',
  getThreadPage: 'client.threads.page',
  countFolders: 'client.threads.folders',
  listAssignees: 'client.threads.assignees',
  changeThread: 'client.threads.change',
  changeThreads: 'client.threads.changeMany',
  suppress: 'client.suppressions.add',
  createWebhook: 'client.webhooks.create',
  listWebhooks: 'client.webhooks.list',
  getWebhook: 'client.webhooks.get',
  changeWebhook: 'client.webhooks.change',
  deleteWebhook: 'client.webhooks.delete',
  pauseWebhook: 'client.webhooks.pause',
  resumeWebhook: 'client.webhooks.resume',
  replayWebhook: 'client.webhooks.replay',
  rotateWebhookSecret: 'client.webhooks.rotateSecret',
  testWebhook: 'client.webhooks.test',
  listWebhookDeliveries: 'client.webhooks.deliveries',
} as const;

/** The methods that make dry runs. */
const CHECKS = [
  'client.checkSend',
  'client.checkBatch',
  'client.emails.checkReply',
  'client.emails.checkReplyAll',
  'client.emails.checkForward',
  'client.emails.checkInvitationAnswer',
  'client.accounts.checkDelete',
  'client.emails.checkDelete',
  'client.threads.checkDelete',
  'client.threads.checkMerge',
  'client.erasures.check',
];

let project: Project;

beforeAll(async () => {
  project = await makeProject();
});
afterAll(() => project.dispose());

it('has the program, its types, README and licence, and nothing else', () => {
  const { files } = project;
  expect(files.filter((file) => !/^dist\/.*\.(?:js|d\.ts)$/.test(file))).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  expect(files).toContain('dist/index.js');
  expect(files).toContain('dist/index.d.ts');
  expect(files.filter((file) => file.includes('.test.'))).toEqual([]);
  const { dependencies } = JSON.parse(readFileSync(path.join(CLIENT, 'package.json'), 'utf8')) as {
    dependencies: object;
  };
  expect(Object.keys(dependencies)).toEqual(['openapi-fetch', 'standardwebhooks']);
});

describe('in a bundle', () => {
  async function bundle(source: string): Promise<Buffer> {
    const { outputFiles } = await build({
      stdin: { contents: source, resolveDir: project.folder },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    return Buffer.from(outputFiles[0]!.contents);
  }

  it(`is smaller than ${MAX_GZIP_BYTES} bytes`, async () => {
    const code = await bundle("export * from 'email-worker-client';");
    expect(gzipSync(code).length).toBeLessThan(MAX_GZIP_BYTES);
  });

  it('leaves out what is not used', async () => {
    const code = await bundle("export { EmailWorkerError } from 'email-worker-client';");
    expect(code.length).toBeLessThan(1_000);
  });
});

// Without the browser's types, a program in Node.js has fewer types, and different ones.
const BROWSER = 'es2022,dom,dom.iterable,dom.asynciterable';
const COMPILERS = [
  ['TypeScript 5', 'es2022', path.join(CLIENT, 'node_modules/typescript/bin/tsc')],
  ['the newest TypeScript', 'es2022', path.join(ROOT, 'node_modules/typescript/bin/tsc')],
  ['the newest TypeScript', BROWSER, path.join(ROOT, 'node_modules/typescript/bin/tsc')],
] as const;
/** Long, because the compiler checks the types of Node.js as well. */
const COMPILE_TIMEOUT_MS = 180_000;

describe('the README', () => {
  let service: ServiceProcess;
  let end: () => Promise<void>;

  beforeAll(async () => {
    ({ service, end } = await startServiceWithSink({ DNS_SERVERS: '127.0.0.1:9' }));
    await project.write('readme.ts', readmeProgram());
  });
  afterAll(() => end());

  const STRICT = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];

  it.each(COMPILERS)(
    'has examples that %s compiles, with --lib %s',
    async (_, libs, tsc) => {
      const options = [...STRICT, '--lib', libs, '--types', 'node', '--skipLibCheck', 'false'];
      const { stdout } = await run(process.execPath, [tsc, ...options, 'readme.ts'], {
        cwd: project.folder,
      }).catch((error: { stdout: string }) => error);
      expect(stdout).toBe('');
    },
    COMPILE_TIMEOUT_MS,
  );

  it('has examples that run', async () => {
    const { stdout } = await run(process.execPath, ['readme.js'], {
      cwd: project.folder,
      env: { ...process.env, EMAIL_WORKER_URL: service.url, API_SECRET: TEST_SECRET, WEBHOOK_SECRET },
    });
    expect(stdout).toContain('outbound Hello Good morning!');
    expect(stdout).toContain('true euros');
    expect(stdout).toContain('received true');
    expect(stdout).toContain("address: 'eve@example.com'");
    expect(stdout).toContain('404 Der Thread wurde nicht gefunden. null');
    expect(stdout).toContain('-- sent by a list');
    expect(stdout).toContain('The webhook is not verified: Missing required headers');
  });

  it('has an example of each operation', () => {
    const program = readmeProgram();
    const methods = Object.entries(METHODS).map(([operation, method]) => ({ operation, method }));
    expect(methods.filter(({ method }) => !program.includes(`${method}(`))).toEqual([]);
    expect(CHECKS.filter((method) => !program.includes(`${method}(`))).toEqual([]);
    const { paths } = JSON.parse(readFileSync(path.join(ROOT, 'docs/openapi.json'), 'utf8')) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(paths).flatMap((one) =>
      Object.values(one).map(({ operationId }) => operationId),
    );
    expect(Object.keys(METHODS).sort()).toEqual(operations.sort());
  });
});
