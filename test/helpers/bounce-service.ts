/** Two processes of the service that read the reports about sent mail, on one database and one SMTP server. */
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { startSmtpSink, type SmtpSink } from './smtp-sink.ts';

interface Report {
  readonly outcome: string;
  readonly enhanced_status: string | null;
  readonly diagnostic: string;
  readonly email_id: string;
}

interface Detail {
  readonly state: string;
  readonly state_detail: string | null;
  readonly next_attempt_at: string | null;
  readonly recipients: readonly { address: string; state: string; report: Report | null }[];
  readonly bounce: { readonly email_id: string | null } | null;
  readonly attempts: readonly { readonly detail: string }[];
}

export interface Sent {
  readonly id: string;
  readonly messageId: string;
}

let count = 0;
/** An address that no other test uses. */
export const freshAddress = (domain = 'customer.test') => `someone-${(count += 1)}@${domain}`;

export class BounceService {
  readonly database: TestDatabase;
  readonly sink: SmtpSink;
  readonly service: ServiceProcess;
  readonly other: ServiceProcess;

  private constructor(
    database: TestDatabase,
    sink: SmtpSink,
    service: ServiceProcess,
    other: ServiceProcess,
  ) {
    this.database = database;
    this.sink = sink;
    this.service = service;
    this.other = other;
  }

  static async start(): Promise<BounceService> {
    const [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
    const start = () => startNode(database, sink.url);
    const [service, other] = await Promise.all([start(), start()]);
    return new BounceService(database, sink, service, other);
  }

  async end(): Promise<void> {
    await Promise.all([disposeService(this.service), disposeService(this.other)]);
    await this.sink.stop();
    await this.database.drop();
  }

  /** Starts another process, with an SMTP server of its own. */
  startNode(smtpUrl: string): Promise<ServiceProcess> {
    return startNode(this.database, smtpUrl);
  }

  trySend(json: object, by = this.service): Promise<Response> {
    return by.request('/api/send', { json: { subject: 'Angebot', text_body: 'Text', ...json } });
  }

  async send(json: object): Promise<Sent> {
    return (await bodyOf(await this.trySend(json))) as Sent;
  }

  async emailOf(id: string): Promise<Detail> {
    return (await bodyOf(await this.service.request(`/api/emails/${id}`))) as Detail;
  }

  /** The reported outcome of each recipient. */
  async outcomes(id: string): Promise<readonly (string | null)[]> {
    return (await this.emailOf(id)).recipients.map(({ report }) => report?.outcome ?? null);
  }

  /** The suppression of an address; empty if there is none. */
  async listed(address: string): Promise<readonly Record<string, unknown>[]> {
    const response = await this.service.request(`/api/suppressions?address=${encodeURIComponent(address)}`);
    return ((await response.json()) as { suppressions: Record<string, unknown>[] }).suppressions;
  }

  lift(address: string): Promise<Response> {
    return this.service.request(`/api/suppressions/${encodeURIComponent(address)}`, { method: 'DELETE' });
  }

  suppress(address: string, json: unknown = {}): Promise<Response> {
    return this.service.request(`/api/suppressions/${encodeURIComponent(address)}`, { method: 'PUT', json });
  }
}

/** Throws unless the request succeeded. */
async function bodyOf(response: Response): Promise<unknown> {
  if (response.status >= 300) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

function startNode(database: TestDatabase, smtpUrl: string): Promise<ServiceProcess> {
  return startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: smtpUrl,
      MAIL_FROM: 'Sales <sales@example.com>',
      SEND_RETRY_DELAYS_S: '1',
    },
  });
}
