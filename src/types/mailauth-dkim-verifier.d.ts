/** What we use of a class of mailauth that its own types do not have. */
declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { Writable } from 'node:stream';
  import type { ARCData, DKIMResult, DNSResolver } from 'mailauth';

  interface ParsedHeaders {
    parsed: readonly { readonly key: string }[];
  }

  export class DkimVerifier extends Writable {
    constructor(options: { readonly resolver: DNSResolver });
    /** `keys`: names of the signed fields that are there, with `: ` between them. */
    readonly results: readonly (DKIMResult & { readonly signingHeaders?: { readonly keys: string } })[];
    /** Every address of every From field. */
    readonly headerFrom: readonly string[];
    readonly arc: ARCData;
    protected signatureHeaders: readonly { readonly type: 'DKIM' | 'ARC' | 'AS' }[];
    protected messageHeaders(headers: ParsedHeaders): Promise<void>;
  }
}
