/**
 * The stored form of a key's secret. The secret has 32 random bytes, so a slow hash, as for passwords, would add nothing.
 */
import { hash } from 'node:crypto';

export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');
