/**
 * The stored form of a secret of 32 random bytes, of a key or of a consent that is asked for: a slow hash, as for passwords, would add nothing.
 */
import { hash } from 'node:crypto';

export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');
