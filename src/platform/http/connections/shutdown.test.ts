import { beforeEach, describe, expect, it } from 'vitest';
import { Shutdown } from './shutdown.ts';

let shutdown: Shutdown;
let server: { keepAliveTimeout: number };

beforeEach(() => {
  server = { keepAliveTimeout: 72_000 };
  shutdown = new Shutdown();
  shutdown.attach(server);
});

const codesOf = () =>
  Object.fromEntries(
    ['GET', 'HEAD', 'POST', 'DELETE'].map((method) => [method, shutdown.faultOf(method)?.code ?? null]),
  );
const TAKEN = { GET: null, HEAD: null, POST: null, DELETE: null };

describe('a service that stops', () => {
  it('takes everything before, and keeps connections', () => {
    expect([codesOf(), shutdown.isDraining]).toEqual([TAKEN, false]);
  });

  it('takes everything while it drains, and ends connections with their answer', () => {
    shutdown.beginDrain();
    expect([codesOf(), shutdown.isDraining]).toEqual([TAKEN, true]);
    expect(shutdown.stopping.aborted).toBe(false);
  });

  it('turns reads away then, ends what waits for events, and counts what is still taken', () => {
    shutdown.beginDrain();
    shutdown.turnAway();
    expect(codesOf()).toEqual({ ...TAKEN, GET: 'shutting_down', HEAD: 'shutting_down' });
    expect(shutdown.stopping.aborted).toBe(true);
    const before = shutdown.taken;
    shutdown.faultOf('GET');
    expect(shutdown.taken).toBe(before);
    shutdown.faultOf('POST');
    expect(shutdown.taken).toBe(before + 1);
  });

  it('ends the connections of each address it listens on', () => {
    const other = { keepAliveTimeout: 72_000 };
    shutdown.attach(other);
    shutdown.end();
    expect([server, other]).toEqual([{ keepAliveTimeout: 1 }, { keepAliveTimeout: 1 }]);
  });

  it('refuses everything at the end, and no step leads back', () => {
    shutdown.end();
    shutdown.beginDrain();
    shutdown.turnAway();
    const refused = {
      GET: 'shutting_down',
      HEAD: 'shutting_down',
      POST: 'shutting_down',
      DELETE: 'shutting_down',
    };
    expect([codesOf(), shutdown.isDraining, server.keepAliveTimeout]).toEqual([refused, true, 1]);
  });
});
