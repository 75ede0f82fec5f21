/** What we use of a class of mailauth that its own types do not have. */
declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { Writable } from 'node:stream';
  import type { ARCData, DKIMResult, DNSResolver } from 'mailauth';

  interface ParsedHeaders {
    /** Lower-case names; `line`: the field as it was written, folded. */
    parsed: readonly { readonly key: string; readonly line: Buffer }[];
  }

  export class DkimVerifier extends Writable {
    constructor(options: { readonly resolver: DNSResolver });
    /** `keys`: names of the signed fields that are there, with `: ` between them. */
    readonly results: readonly (DKIMResult & {
      readonly signingHeaders?: { readonly keys: string };
      /** The tag `a`. */
      readonly algo?: string;
    })[];
    readonly arc: ARCData;
    protected signatureHeaders: readonly {
      readonly type: 'DKIM' | 'ARC' | 'AS';
      readonly signingDomain: string;
      readonly selector: string;
      /** Absent for a signature that is not checked. */
      readonly bodyHashKey?: string;
    }[];
    protected readonly bodyHashes: Map<string, unknown>;
    messageHeaders(headers: ParsedHeaders): Promise<void>;
  }
}
