/** Where commands write: results to standard output, everything else to standard error. */

export interface Output {
  /** One line of the result. */
  print(line: string): void;
  /** One line for the person who watches: progress, warnings, errors. */
  note(line: string): void;
  /** True when standard error is a terminal. */
  readonly watched: boolean;
  /** Set while something is drawn at the bottom of the terminal, which has to make way for lines. */
  drawn: { clear(): void; draw(): void } | null;
}

export function createOutput(
  stdout: Pick<NodeJS.WriteStream, 'write'>,
  stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
): Output {
  const output: Output = {
    watched: stderr.isTTY === true,
    drawn: null,
    print: (line) => writeTo(stdout, line),
    note: (line) => writeTo(stderr, line),
  };
  const writeTo = (stream: { write(text: string): unknown }, line: string) => {
    output.drawn?.clear();
    stream.write(`${line}\n`);
    output.drawn?.draw();
  };
  return output;
}

/** Characters that could steer a terminal, such as those of a hostile file name or subject, made visible. */
export function printable(text: string): string {
  // The controls are what this is about.
  // oxlint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
