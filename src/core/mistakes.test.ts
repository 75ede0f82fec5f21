import { describe, expect, it } from 'vitest';
import { parseAddressList } from './address/address-list.ts';
import { invalidRequest, ServiceError } from './errors.ts';
import { readCustomHeaders } from './message/custom-headers.ts';
import { MAX_PROBLEMS, Mistakes, withOtherMistakes } from './mistakes.ts';

const missing = (field: string) => invalidRequest('missing', { field });
const fieldsOf = (error: ServiceError) => [error.field, ...error.others.map((one) => one.field)];

/** What is thrown in the end. */
function refusal(look: (mistakes: Mistakes) => void, max?: number): unknown {
  const mistakes = new Mistakes(max);
  try {
    look(mistakes);
    mistakes.refuseAny();
  } catch (error) {
    return error;
  }
  return null;
}

describe('mistakes', () => {
  it('are refused with the first, which lists the others in their order', () => {
    const error = refusal(({ note, check }) => {
      note(missing('a'));
      check(() => {
        throw missing('b');
      });
      expect(check(() => 5)).toBe(5);
      note(missing('c'));
    });
    expect(fieldsOf(error as ServiceError)).toEqual(['a', 'b', 'c']);
    expect(refusal(() => undefined)).toBeNull();
  });

  it('are no longer looked for once there are enough', () => {
    let noted = 0;
    const error = refusal(({ note }) => {
      for (; noted < 1000; noted += 1) note(missing(`f${noted}`));
    });
    expect((error as ServiceError).others).toHaveLength(MAX_PROBLEMS - 1);
    expect(noted).toBe(MAX_PROBLEMS - 1);
    const only = refusal(({ note }) => note(missing('a')), 1);
    expect(fieldsOf(only as ServiceError)).toEqual(['a']);
  });

  it('are no longer looked for after many that are dropped', () => {
    let noted = 0;
    const error = refusal(({ note }) => {
      for (; noted < 100_000; noted += 1) parseAddressList('x', 'to', note);
    });
    expect(fieldsOf(error as ServiceError)).toEqual(['to']);
    expect(noted).toBeLessThan(100);
  });

  it('of one field are one mistake, but for the addresses of a list', () => {
    const error = refusal(({ note }) => {
      note(missing('id'));
      note(new ServiceError('invalid_uuid', { values: { field: 'id' } }));
      for (const text of ['ann@', 'bob@', 'ann@']) parseAddressList(text, 'to', note);
    });
    expect(fieldsOf(error as ServiceError)).toEqual(['id', 'to', 'to']);
  });

  it('of a header and of a field with the same name are two', () => {
    const error = refusal(({ note }) => {
      parseAddressList('ann@', 'to', note);
      readCustomHeaders({ to: 'x' }, note);
    });
    expect((error as ServiceError).others.map((one) => one.code)).toEqual(['header_not_allowed']);
  });

  it('are not mixed with other refusals, which come alone, or not at all', () => {
    const forbidden = new ServiceError('forbidden_right', { values: { right: 'read' } });
    expect(refusal(({ note }) => note(forbidden))).toBe(forbidden);
    const error = refusal(({ note }) => {
      note(missing('a'));
      note(forbidden);
    });
    expect(fieldsOf(error as ServiceError)).toEqual(['a']);
    const broken = new TypeError('broken');
    expect(
      refusal(({ check }) =>
        check(() => {
          throw broken;
        }),
      ),
    ).toBe(broken);
  });

  it('are looked for after one was thrown, which stays the first, and after nothing else', () => {
    const first = missing('b');
    const found = withOtherMistakes(first, ({ note }) => {
      note(missing('a'));
      note(missing('b'));
    });
    expect(found).toBe(first);
    expect(fieldsOf(found)).toEqual(['b', 'a']);
    const away = new ServiceError('database_unavailable');
    expect(withOtherMistakes(away, () => expect.unreachable())).toBe(away);
    const fault = new TypeError('a fault of the search');
    const search = () => {
      throw fault;
    };
    expect(() => withOtherMistakes(missing('b'), search)).toThrow(fault);
  });
});

describe('a list of addresses', () => {
  it.each<[what: string, text: string, bad: readonly string[], good: number]>([
    [
      'several bad ones',
      'ann@, bob@example.com; carl, Dora <dora@>, e@example.com',
      ['ann@', 'carl', 'Dora <dora@>'],
      2,
    ],
    ['one within a group', 'team: ann@example.com, bob@, carl@example.com; dora@', ['bob@', 'dora@'], 2],
    [
      'a quote without an end',
      'ann@, "bob <bob@example.com>, carl@example.com',
      ['ann@', '"bob <bob@example.com>, carl@example.com'],
      0,
    ],
  ])('names each that is wrong, and goes on behind it: %s', (_, text, bad, good) => {
    const noted: string[] = [];
    const read = parseAddressList(text, 'to', ({ text: said }) => noted.push(said));
    expect(noted).toEqual(bad.map((one) => `Ungültige E-Mail-Adresse in to: ${one}`));
    expect(read).toHaveLength(good);
  });
});
