/** The output of commands: results go to standard output, everything else to standard error. */

export interface Output {
  /** One line of the result. */
  print(line: string): void;
  /** One line for the person watching: progress, warnings, errors. */
  note(line: string): void;
  /** True when standard error is a terminal. */
  readonly watched: boolean;
  /** Width of the terminal that shows the result; null: the result goes to a file or another program. */
  readonly columns: number | null;
  /** True if the result may have colours. */
  readonly colored: boolean;
  /** Set while something is drawn at the bottom of the terminal; it has to make way for lines. */
  drawn: { clear(): void; draw(): void } | null;
}

interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The environment variables with which terminals and users choose colours. */
interface TerminalVariables {
  /** Any value: no colours; see no-color.org. */
  readonly NO_COLOR?: string | undefined;
  readonly TERM?: string | undefined;
}

/** For a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

export function createOutput(stdout: Stream, stderr: Stream, env: TerminalVariables = {}): Output {
  const isTerminal = stdout.isTTY === true;
  const output: Output = {
    watched: stderr.isTTY === true,
    // Read each time: the window may change.
    get columns() {
      return isTerminal ? stdout.columns || USUAL_COLUMNS : null;
    },
    colored: isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb',
    drawn: null,
    print: (line) => writeTo(stdout, line),
    note: (line) => writeTo(stderr, line),
  };
  const writeTo = (stream: Stream, line: string) => {
    output.drawn?.clear();
    stream.write(`${line}\n`);
    output.drawn?.draw();
  };
  return output;
}

/** Makes characters visible that could steer a terminal, such as those of a hostile file name or subject. */
export function printable(text: string): string {
  // Control characters are the very ones to replace.
  // oxlint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
