import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { listenForStop, type StopRequest } from './stop-request.ts';

class Signals extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

let source: Signals;
let request: StopRequest;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  source = new Signals();
  request = listenForStop(source, silentLogger);
});
afterEach(() => vi.useRealTimers());

describe('a wish to stop', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('is made by %s', async (signal) => {
    expect(request.signal.aborted).toBe(false);
    source.emit(signal, signal);
    await request.made;
    expect(request.signal.aborted).toBe(true);
    expect(source.exits).toEqual([]);
  });

  it('stays one wish when its signal comes several times at once, whichever they are', () => {
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP']) source.emit(signal, signal);
    vi.advanceTimersByTime(2_900);
    source.emit('SIGINT', 'SIGINT');
    expect(source.exits).toEqual([]);
  });

  it('ends the process at once when it is repeated some seconds later', () => {
    source.emit('SIGINT', 'SIGINT');
    vi.advanceTimersByTime(3_100);
    source.emit('SIGINT', 'SIGINT');
    expect(source.exits).toEqual([1]);
  });
});
