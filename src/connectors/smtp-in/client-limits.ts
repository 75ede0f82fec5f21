/**
 * Limits what the clients of a listener may take from each other: connections, time and patience. As in Postfix (anvil's
 * smtpd_client_connection_count_limit, smtpd_hard_error_limit, smtpd_junk_command_limit), errors and commands count until a message is
 * delivered, so that a mail server that keeps delivering is never cut off.
 *
 * This class has no access to sockets: the listener reports events, and cuts off the clients that it names.
 */
import { addressGroup } from '../../core/edge/address-group.ts';
import { MAX_COMMANDS, MAX_ERRORS, MAX_MESSAGE_MS, MAX_WITHOUT_MESSAGE_MS } from './limits.ts';

export type CutReason = 'errors' | 'commands' | 'no_message' | 'slow_message' | 'makes_room';
export type RefusalReason = 'full' | 'address';

export interface ClientLimitsOptions {
  readonly maxClients: number;
  readonly maxClientsPerAddress: number;
  /** Ends that connection with 421; must call `disconnect` sooner or later. */
  readonly cutOff: (id: string, reason: CutReason, group: string) => void;
  /** In milliseconds, by a clock that never goes back. */
  readonly now: () => number;
}

interface Client {
  readonly group: string;
  errors: number;
  commands: number;
  isLoggedIn: boolean;
  /** Start of the connection, or end of its last message. */
  freshAt: number;
  /** null: no message is being received. */
  messageSince: number | null;
  cut: boolean;
}

export class ClientLimits {
  readonly #options: ClientLimitsOptions;
  readonly #clients = new Map<string, Client>();
  readonly #byGroup = new Map<string, number>();

  constructor(options: ClientLimitsOptions) {
    this.#options = options;
  }

  /**
   * null when the client may stay; a refused client is not counted. When all places are taken, the client that was idle longest is cut off.
   */
  connect(id: string, address: string): RefusalReason | null {
    const { maxClients, maxClientsPerAddress, now } = this.#options;
    const group = addressGroup(address);
    const count = this.#byGroup.get(group) ?? 0;
    if (count >= maxClientsPerAddress) return 'address';
    if (this.#clients.size >= maxClients && !this.#makeRoom()) return 'full';
    this.#byGroup.set(group, count + 1);
    this.#clients.set(id, {
      group,
      errors: 0,
      commands: 0,
      isLoggedIn: false,
      freshAt: now(),
      messageSince: null,
      cut: false,
    });
    return null;
  }

  disconnect(id: string): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    this.#clients.delete(id);
    const count = (this.#byGroup.get(client.group) ?? 0) - 1;
    if (count > 0) this.#byGroup.set(client.group, count);
    else this.#byGroup.delete(client.group);
  }

  noteCommand(id: string): void {
    const client = this.#clients.get(id);
    if (client !== undefined && ++client.commands > MAX_COMMANDS) this.#cutOff(id, client, 'commands');
  }

  /**
   * Errors no longer count, only commands: a program of ours does not try out addresses, and a message to many suppressed recipients has to
   * reach the others.
   */
  noteLogIn(id: string): void {
    const client = this.#clients.get(id);
    if (client !== undefined) client.isLoggedIn = true;
  }

  /** Call it for a reply with a permanent code; a temporary refusal is not the client's fault. */
  noteError(id: string): void {
    const client = this.#clients.get(id);
    if (client !== undefined && !client.isLoggedIn && ++client.errors >= MAX_ERRORS)
      this.#cutOff(id, client, 'errors');
  }

  noteMessageBegin(id: string): void {
    const client = this.#clients.get(id);
    if (client !== undefined) client.messageSince = this.#options.now();
  }

  /** A delivered message resets the counts. */
  noteMessageEnd(id: string, delivered: boolean): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    client.messageSince = null;
    if (!delivered) return;
    client.errors = 0;
    client.commands = 0;
    client.freshAt = this.#options.now();
  }

  /** Call it now and then: cuts off clients that take too long. */
  checkTimes(): void {
    const now = this.#options.now();
    for (const [id, client] of this.#clients) {
      if (client.messageSince !== null) {
        if (now - client.messageSince > MAX_MESSAGE_MS) this.#cutOff(id, client, 'slow_message');
      } else if (now - client.freshAt > MAX_WITHOUT_MESSAGE_MS) this.#cutOff(id, client, 'no_message');
    }
  }

  /** Cuts off the client that has gone longest without delivering, but none that is delivering now. */
  #makeRoom(): boolean {
    let idlest: [string, Client] | null = null;
    for (const entry of this.#clients) {
      const [, client] = entry;
      if (client.messageSince !== null || client.cut) continue;
      if (idlest === null || client.freshAt < idlest[1].freshAt) idlest = entry;
    }
    if (idlest === null) return false;
    const [id, client] = idlest;
    this.#cutOff(id, client, 'makes_room');
    // The slot is free at once, although the connection takes a moment to end.
    this.disconnect(id);
    return true;
  }

  #cutOff(id: string, client: Client, reason: CutReason): void {
    if (client.cut) return;
    client.cut = true;
    this.#options.cutOff(id, reason, client.group);
  }
}
