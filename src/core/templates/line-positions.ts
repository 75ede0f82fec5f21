/** Finds the line and column of a position in a text, in time that does not depend on how far back the text begins. */
export class LinePositions {
  #text = '';
  /** Where each line of the text begins. */
  #starts: readonly number[] = [0];

  /** Line and column, both from 1. Remembers the lines of the last text alone. */
  find(text: string, position: number): [line: number, column: number] {
    if (text !== this.#text) {
      this.#text = text;
      this.#starts = startsOf(text);
    }
    const starts = this.#starts;
    let [low, high] = [0, starts.length];
    // The last line that begins at or before the position.
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle;
    }
    return [low + 1, position - (starts[low] ?? 0) + 1];
  }
}

function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
