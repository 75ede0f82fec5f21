/** The author of an action, as the API shows it. */
import type { XStatic } from 'typebox/schema';
import type { Author } from '../../../core/keys/author.ts';
import { record } from './schemas.ts';

export const AuthorSchema = record('Author', {
  kind: {
    type: 'string',
    enum: ['secret', 'key', 'command', 'stranger'],
    description:
      'The shared secret, a key, a command of a person on the machine, or a caller whose log-in was refused.',
  },
  id: { type: ['string', 'null'], description: 'Of a key.' },
  name: {
    type: 'string',
    description:
      "Of the key; of the system's user for a command; `API_SECRET`, with its number, for the secret; of a stranger the " +
      'address.',
  },
});

/** The key that sent an email, or did what an event reports. */
export const NullableKeyAuthor = {
  anyOf: [
    record('KeyAuthor', {
      id: { type: 'string', description: 'Of the key.' },
      name: { type: 'string', description: 'Also of one that was revoked.' },
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
