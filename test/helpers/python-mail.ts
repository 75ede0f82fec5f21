/** Python's email package, as an independent reader of messages. */
import { spawnSync } from 'node:child_process';
import { skipFor } from './skip.ts';

export interface PythonPart {
  readonly type: string;
  /** The `type` parameter of a multipart/related. */
  readonly relatedType: string | null;
  readonly disposition: string | null;
  readonly filename: string | null;
  readonly contentId: string | null;
  /** Decoded, Base64; null for a multipart. */
  readonly content: string | null;
  readonly parts: readonly PythonPart[];
}

export interface PythonMail {
  /** Decoded; the last one if a field occurs twice. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly defects: readonly string[];
  readonly root: PythonPart;
  /** The text that a reader which prefers plain text shows; `html` is for one that prefers HTML. */
  readonly plain: string | null;
  readonly html: string | null;
}

const PROGRAM = `
import base64, email, email.policy, json, sys
message = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
defects = []
def part(p):
    defects.extend(type(d).__name__ for d in p.defects)
    return {
        'type': p.get_content_type(), 'relatedType': p.get_param('type'), 'disposition': p.get_content_disposition(),
        'filename': p.get_filename(), 'contentId': p['content-id'],
        'content': None if p.is_multipart() else base64.b64encode(p.get_payload(decode=True) or b'').decode(),
        'parts': [part(c) for c in p.iter_parts()] if p.is_multipart() else [],
    }
def body(kind):
    found = message.get_body(preferencelist=(kind,))
    return None if found is None else found.get_content()
json.dump({
    'headers': {k.lower(): str(v) for k, v in message.items()}, 'root': part(message), 'defects': defects,
    'plain': body('plain'), 'html': body('html'),
}, sys.stdout)
`;

const isMissing = spawnSync('python3', ['-c', 'import email.policy']).status !== 0;

/** For `describe.skipIf`; see skip.ts. */
export const skipWithoutPython = (): boolean =>
  skipFor(
    'tests that read mail with Python',
    isMissing ? 'python3 and its package email are missing: run .ci/install-servers.sh' : null,
  );

export function readWithPython(raw: Buffer): PythonMail {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', PROGRAM], {
    input: raw,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
  });
  if (status !== 0) throw new Error(`python3 could not read the message: ${stderr}`);
  return JSON.parse(stdout) as PythonMail;
}
