/** How the secret of a key is stored. It has 32 random bytes, so that a slow hash, as of passwords, would add nothing. */
import { hash } from 'node:crypto';

export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');
