import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { addrSpec, type Address } from '../address/address.ts';
import {
  accountsWith,
  answeringIdentity,
  identityFor,
  ownAddresses,
  patternOf,
  sendsAs,
  type Sender,
} from './sender-addresses.ts';

const local = fc.constantFrom('a', 'A', 'b', 'a+x', 'a+y', 'b+x');
const domain = fc.constantFrom('one.test', 'two.test');
const address = fc.record({ name: fc.constantFrom('', 'N'), localPart: local, domain });
const pattern = fc.record({
  name: fc.constantFrom('', 'P'),
  localPart: fc.constantFrom('*', 'a+*', 'b+*'),
  domain,
});
const sender: fc.Arbitrary<Sender> = fc.record({
  from: address,
  addresses: fc.array(fc.record({ address: fc.oneof(address, pattern), replyTo: fc.constant(null) }), {
    maxLength: 4,
  }),
});
const keyOf = (one: Address) => addrSpec(one).toLowerCase();

/** By the words of the documentation, one address after the other. */
const isAllowed = ({ from, addresses = [] }: Sender, asked: Address) =>
  [from, ...addresses.map((one) => one.address)].some((one) => {
    const [base, detail] = one.localPart.split('+');
    const [askedBase, askedDetail] = asked.localPart.split('+');
    if (one.domain !== asked.domain) return false;
    if (one.localPart === '*') return true;
    if (detail === '*') return askedDetail !== undefined && base === askedBase?.toLowerCase();
    return keyOf(one) === keyOf(asked);
  });

describe('the addresses of an account', () => {
  it('are those that it names or has a pattern for, and no others', () => {
    fc.assert(
      fc.property(sender, address, (account, asked) => {
        const identity = identityFor(account, asked);
        expect(identity !== null).toBe(isAllowed(account, asked));
        expect(sendsAs(account, addrSpec(asked))).toBe(identity !== null);
        if (identity === null) return;
        expect(keyOf(identity.from)).toBe(keyOf(asked));
        expect(patternOf(identity.from)).toBe('none');
      }),
      { numRuns: runs(500) },
    );
  });

  it('are all ours', () => {
    fc.assert(
      fc.property(fc.array(sender, { maxLength: 3 }), address, (accounts, asked) => {
        const isOwn = ownAddresses(accounts);
        const isNamed = accounts.some((one) => identityFor(one, asked) !== null);
        expect(isOwn(addrSpec(asked)) || !isNamed).toBe(true);
        expect(accounts.every(({ from }) => isOwn(addrSpec(from)))).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  it('decide the account only among those that send as the address', () => {
    fc.assert(
      fc.property(fc.array(sender, { maxLength: 4 }), address, (accounts, asked) => {
        const found = accountsWith(accounts, asked);
        const able = accounts.filter((one) => identityFor(one, asked) !== null);
        expect(found.length > 0).toBe(able.length > 0);
        expect(found.every((one) => able.includes(one))).toBe(true);
        // All by name, or all by patterns.
        expect(new Set(found.map((one) => identityFor(one, asked)?.isExact)).size).toBeLessThanOrEqual(1);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('an answer', () => {
  it('goes out as an address that the email was written to, the first one', () => {
    fc.assert(
      fc.property(sender, fc.array(address, { maxLength: 5 }), (account, writtenTo) => {
        const identity = answeringIdentity(account, writtenTo);
        const first = writtenTo.find((one) => isAllowed(account, one));
        expect(identity === null ? null : keyOf(identity.from)).toBe(
          first === undefined ? null : keyOf(first),
        );
      }),
      { numRuns: runs(500) },
    );
  });
});
