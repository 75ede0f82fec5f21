/** Prints, as the last line of a run, how many tests passed, failed and were skipped: for programs that read it. */
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that could not be run has no failed tests, but it failed.
      if (module.state() === 'failed' && module.errors().length > 0) count.failed += 1;
    }
    // After the default reporter's summary, which is written in the same turn.
    setImmediate(() => {
      process.stdout.write(
        `\n${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`,
      );
    });
  }
}
