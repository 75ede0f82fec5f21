/**
 * How the edge stops taking requests, in steps. Behind a load balancer no request fails:
 *
 * 1. Draining: readiness is 503, everything else is answered, and connections end with their answer. Balancers that check readiness
 *    send elsewhere.
 * 2. Turning away: reads get 503 as well. A balancer without checks (nginx) repeats a read elsewhere, and leaves this process alone
 *    for a while. It repeats no other request, so those are still answered.
 * 3. Ended: every request gets 503, and the listener closes. Without a balancer shutdown begins here.
 */
import { ServiceError } from '../../../core/errors.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export class Shutdown {
  readonly #stopping = new AbortController();
  readonly #servers = new Set<{ keepAliveTimeout: number }>();
  #step: 'serving' | 'draining' | 'turning away' | 'ended' = 'serving';
  #taken = 0;

  /** One server for each address that is listened on: `localhost` may be two. */
  attach(server: { keepAliveTimeout: number }): void {
    this.#servers.add(server);
  }

  /** Connections close after their answer. */
  get isDraining(): boolean {
    return this.#step !== 'serving';
  }

  /** Aborted when requests that wait for events must be answered. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  beginDrain(): void {
    if (this.#step === 'serving') this.#step = 'draining';
  }

  turnAway(): void {
    if (this.#step === 'ended') return;
    this.#step = 'turning away';
    this.#stopping.abort();
  }

  /** Number of requests taken since reads are turned away. */
  get taken(): number {
    return this.#taken;
  }

  end(): void {
    this.#step = 'ended';
    this.#stopping.abort();
    // For answers whose headers are already sent: their connections would be kept, and closing would wait for them.
    for (const server of this.#servers) server.keepAliveTimeout = 1;
  }

  /** null: the request is taken. */
  faultOf(method: string): ServiceError | null {
    if (this.#step === 'serving' || this.#step === 'draining') return null;
    if (this.#step === 'ended' || READS.has(method)) return new ServiceError('shutting_down');
    this.#taken += 1;
    return null;
  }
}
