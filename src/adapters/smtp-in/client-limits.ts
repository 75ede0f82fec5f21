/**
 * What the clients of a listener may take from each other: connections, time and patience. As Postfix has it
 * (anvil's smtpd_client_connection_count_limit, smtpd_hard_error_limit, smtpd_junk_command_limit), errors and commands
 * count until a message is delivered, so that a mail server that keeps delivering is never cut off.
 *
 * It knows nothing of sockets: the listener reports what happens, and cuts off the clients it names.
 */
import { addressGroup } from '../../core/edge/address-group.ts';
import { MAX_COMMANDS, MAX_ERRORS, MAX_MESSAGE_MS, MAX_WITHOUT_MESSAGE_MS } from './limits.ts';

export type CutReason = 'errors' | 'commands' | 'no_message' | 'slow_message' | 'makes_room';
export type RefusalReason = 'full' | 'address';

export interface ClientLimitsOptions {
  readonly maxClients: number;
  readonly maxClientsPerAddress: number;
  /** Ends that connection with 421; calls `disconnect` sooner or later. */
  readonly cutOff: (id: string, reason: CutReason, group: string) => void;
  /** Milliseconds by a clock that never goes back. */
  readonly now: () => number;
}

interface Client {
  readonly group: string;
  errors: number;
  commands: number;
  /** Of the connection, or of the last message's end. */
  freshAt: number;
  /** null: no message is on its way. */
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

  /** null when the client may stay; a client that may not is not counted. When all is full, the idlest one has to go. */
  connect(id: string, address: string): RefusalReason | null {
    const { maxClients, maxClientsPerAddress, now } = this.#options;
    const group = addressGroup(address);
    const count = this.#byGroup.get(group) ?? 0;
    if (count >= maxClientsPerAddress) return 'address';
    if (this.#clients.size >= maxClients && !this.#makeRoom()) return 'full';
    this.#byGroup.set(group, count + 1);
    this.#clients.set(id, { group, errors: 0, commands: 0, freshAt: now(), messageSince: null, cut: false });
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

  /** A reply with a permanent code; what is only put off is no fault of the client. */
  noteError(id: string): void {
    const client = this.#clients.get(id);
    if (client !== undefined && ++client.errors >= MAX_ERRORS) this.#cutOff(id, client, 'errors');
  }

  noteMessageBegin(id: string): void {
    const client = this.#clients.get(id);
    if (client !== undefined) client.messageSince = this.#options.now();
  }

  /** What counted is forgotten when the message was delivered. */
  noteMessageEnd(id: string, delivered: boolean): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    client.messageSince = null;
    if (!delivered) return;
    client.errors = 0;
    client.commands = 0;
    client.freshAt = this.#options.now();
  }

  /** To be called now and then: cuts off those that take too long. */
  checkTimes(): void {
    const now = this.#options.now();
    for (const [id, client] of this.#clients) {
      if (client.messageSince !== null) {
        if (now - client.messageSince > MAX_MESSAGE_MS) this.#cutOff(id, client, 'slow_message');
      } else if (now - client.freshAt > MAX_WITHOUT_MESSAGE_MS) this.#cutOff(id, client, 'no_message');
    }
  }

  /** Cuts off the client that has gone longest without delivering; none that is doing so. */
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
    // Its place is free at once; the connection takes a moment to end.
    this.disconnect(id);
    return true;
  }

  #cutOff(id: string, client: Client, reason: CutReason): void {
    if (client.cut) return;
    client.cut = true;
    this.#options.cutOff(id, reason, client.group);
  }
}
