/** The author of an action, as the API shows it. */
import type { XStatic } from 'typebox/schema';
import type { Author } from '../../core/keys/author.ts';
import { record } from './schemas.ts';

export const AuthorSchema = record('Author', {
  kind: {
    type: 'string',
    enum: ['secret', 'key', 'command', 'stranger'],
    description:
      'Kind of actor: the shared secret, a key, a command run on the machine, or a caller whose login was refused.',
  },
  id: { type: ['string', 'null'], description: 'Of a key.' },
  name: {
    type: 'string',
    description:
      'Name of the key; user of the operating system for a command; `API_SECRET` with its number for the shared secret; address ' +
      'of an unknown caller.',
  },
});

/** The key that sent an email, or did what an event reports. */
export const NullableKeyAuthor = {
  anyOf: [
    record('KeyAuthor', {
      id: { type: 'string', description: 'Of the key.' },
      name: { type: 'string', description: 'Name of the key, also after it was revoked.' },
    }),
    { type: 'null' },
  ],
} as const;

/** The author as the API shows it. */
export function toAuthorJson(author: Author): XStatic<typeof AuthorSchema> {
  switch (author.kind) {
    case 'secret':
      return { kind: 'secret', id: null, name: `API_SECRET ${author.number}` };
    case 'key':
      return { kind: 'key', id: author.id, name: author.name };
    case 'command':
      return { kind: 'command', id: null, name: author.user };
    case 'stranger':
      return { kind: 'stranger', id: null, name: author.address };
  }
}
