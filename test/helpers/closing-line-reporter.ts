/**
 * Prints at the end of a run each failure in a few lines, with the seed and the counterexample of random tests, and as the last line how
 * many tests passed, failed and were skipped: for programs that read it, and for logs that are cut off.
 */
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

export default class ClosingLineReporter implements Reporter {
  #tagsFilter: readonly string[] = [];

  onInit({ config }: Vitest): void {
    this.#tagsFilter = config.tagsFilter ?? [];
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        if (!this.#isChosen(test)) continue;
        count[test.result().state] += 1;
        if (test.result().state === 'failed') failures.push(describeFailure(module, test));
      }
      // A file that could not be run has no failed tests, but it still failed.
      if (module.state() === 'failed' && module.errors().length > 0) count.failed += 1;
    }
    // After the default reporter's summary, which is written in the same turn.
    setImmediate(() => {
      process.stdout.write(
        `${failures.join('')}\n${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`,
      );
    });
  }

  /** A test that another command runs does not count as skipped. An expression of several tags leaves out none. */
  #isChosen({ tags }: TestCase): boolean {
    return this.#tagsFilter.every((filter) => {
      if (!/^!?\w+$/.test(filter)) return true;
      return filter.startsWith('!') ? !tags.includes(filter.slice(1)) : tags.includes(filter);
    });
  }
}

/**
 * Lines of the error message to show: fast-check puts the seed and the path into the second line, and the counterexample into the third.
 */
const SHOWN_LINES = 3;
const SHOWN_CHARACTERS = 2000;

function describeFailure({ relativeModuleId }: TestModule, test: TestCase): string {
  const message = test.result().errors?.[0]?.message ?? '';
  const shown = message.split('\n', SHOWN_LINES).join('\n  ').slice(0, SHOWN_CHARACTERS);
  return `\nfailed: ${relativeModuleId} > ${test.fullName}\n  ${shown}\n`;
}
