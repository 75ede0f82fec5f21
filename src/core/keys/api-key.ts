/** The text of a key: `ewk_<id>_<secret>`. The prefix lets source code scanners find a key that was published by mistake. */

/** The id is not secret: lists and logs show it. 60 random bits. */
const ID_CHARS = 12;
/** For JSON schemas. */
export const KEY_ID_PATTERN = `^[0-9a-z]{${ID_CHARS}}$`;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
export const SECRET_BYTES = 32;
export const ID_BYTES = ID_CHARS;

/** Base64url of 32 bytes: 43 characters. */
const API_KEY = /^ewk_([0-9a-z]{12})_([A-Za-z0-9_-]{43})$/;

export interface ApiKeyText {
  readonly id: string;
  readonly secret: string;
}

/** @param bytes ID_BYTES at random */
export function createKeyId(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(0, ID_CHARS), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** @param bytes SECRET_BYTES at random */
export function createKeySecret(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

export const formatApiKey = ({ id, secret }: ApiKeyText): string => `ewk_${id}_${secret}`;

/** null when the text is not a key; the key need not exist. */
export function parseApiKey(text: string): ApiKeyText | null {
  const [, id, secret] = API_KEY.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}
