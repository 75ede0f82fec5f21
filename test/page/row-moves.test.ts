/** The line of the list that keeps its place on the screen while others appear, disappear and move. */
import { describe, expect, it } from 'vitest';
import { moveOf } from '../../page/src/features/threads/row-moves.ts';

/** One line per letter; a digit after it is its latest mail. */
const lines = (text: string) => text.split(' ').map((mark) => ({ id: mark.slice(0, 1), at: mark.slice(1) }));
const OLD = 'a b c d e f g h i j';

describe('the first line that is seen', () => {
  it.each([
    ['nothing has changed', OLD, 0],
    ['a line comes above', 'x a b c d e f g h i j', 1],
    ['three lines come above', 'x y z a b c d e f g h i j', 3],
    ['a line above goes', 'a c d e f g h i j', -1],
    ['a line comes right below', 'a b c d x e f g h i j', 0],
    ['a line comes far below', 'a b c d e f g h x i j', 0],
    ['a line below goes', 'a b c d f g h i j', 0],
    ['a line from below goes to the top', 'f1 a b c d e g h i j', 1],
    ['it goes to the top itself, and the next one decides', 'd1 a b c e f g h i j', 0],
    ['it goes to the top itself while another comes', 'x d1 a b c e f g h i j', 1],
    ['it goes away, and the next one decides', 'a b c e f g h i j', -1],
    ['all go', 'x y z', 0],
  ])('when %s', (_, now, by) => {
    expect(moveOf(lines(OLD), lines(now), 3)).toBe(by);
  });
});
