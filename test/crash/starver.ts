/** The starving of services as seen by the harness; starver.mjs describes how it works. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./starver.mjs', import.meta.url));

export class Starver {
  readonly #child: ChildProcess;
  readonly #pids = new Set<number>();
  #starving = false;
  #orders = 0;

  constructor(seed: number) {
    this.#child = fork(PROGRAM, [String(seed)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  /** Adds a process, which is starved while `begin` is in effect. */
  add(pid: number): void {
    this.#pids.add(pid);
    this.#tell();
  }

  /** Removes a process that has ended. */
  remove(pid: number): void {
    this.#pids.delete(pid);
    this.#tell();
  }

  begin(): void {
    this.#starving = true;
    this.#tell();
  }

  /** Resolves when all processes run again. */
  async end(): Promise<void> {
    this.#starving = false;
    this.#tell();
    const last = this.#orders;
    while (this.#child.connected) {
      const [order] = (await once(this.#child, 'message')) as [number];
      if (order >= last) return;
    }
  }

  /** Lets all processes run on. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #tell(): void {
    this.#orders += 1;
    if (!this.#child.connected) return;
    this.#child.send({ order: this.#orders, pids: this.#starving ? [...this.#pids] : [] });
  }
}
