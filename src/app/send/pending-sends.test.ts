import { describe, expect, it } from 'vitest';
import { createPendingSends } from './pending-sends.ts';

describe('pending sends', () => {
  // Found by test/crash: the replay ran between the failure of a send and its end, passed it by, and never came again.
  it('ask for the replay again when the send ends that asked for it', () => {
    const pending = createPendingSends();
    pending.begin('a');
    pending.needsReplay();
    expect(pending.takeReplayRequest()).toBe(true);
    expect(pending.takeReplayRequest()).toBe(false);
    pending.end('a');
    expect(pending.takeReplayRequest()).toBe(true);
    expect(pending.takeReplayRequest()).toBe(false);
  });

  it('ask for nothing when a send ends that began after the replay was asked for', () => {
    const pending = createPendingSends();
    pending.needsReplay();
    pending.takeReplayRequest();
    pending.begin('a');
    pending.end('a');
    expect(pending.takeReplayRequest()).toBe(false);
  });
});
