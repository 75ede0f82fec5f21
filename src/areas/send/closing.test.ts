import { expect, it } from 'vitest';
import { fillTemplate } from '../../core/templates/liquid.ts';
import type { TemplateReadingPorts } from '../templates/fill-template.ts';
import type { Account } from '../../platform/base/basics.ts';
import { fillSignature } from './closing.ts';

const FROM = { name: 'Sales', localPart: 'sales', domain: 'example.com' };
const ACCOUNT = { id: 'sales', from: FROM } as Account;
const PORTS = {
  reader: {
    read: async (_kind: string, { content, variables }: Parameters<typeof toFilled>[0]) => ({
      kind: 'read',
      value: toFilled({ content, variables }),
    }),
  },
} as unknown as TemplateReadingPorts;

const toFilled = ({
  content,
  variables,
}: {
  readonly content: Parameters<typeof fillTemplate>[0];
  readonly variables: string;
}) => fillTemplate(content, variables);

it.each([
  ['Ada', { text: 'Ada\n', html: null }],
  ['', null],
])(
  'a signature is none when nothing but space is left of it: the author %j',
  async (authorName, expected) => {
    const signature = { text: '{{ author.name }}\n', html: null };
    expect(await fillSignature(PORTS, signature, { authorName, authorKeyId: null }, ACCOUNT, FROM)).toEqual(
      expected,
    );
  },
);
