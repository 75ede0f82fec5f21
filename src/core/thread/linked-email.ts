/** The input of link-graph.ts. */

export interface LinkedEmail {
  readonly id: string;
  /** Its own Message-IDs: the header's, then others by which it is known. */
  readonly messageIds: readonly string[];
  /** The email beside which its sender put it; null for none. */
  readonly anchorId: string | null;
  /** The customer to which its send or a decision assigned it; null for an email that names no customer. */
  readonly partyId: string | null;
  /** The Message-IDs and meeting points (meeting-points.ts) that tie it to others, the strongest first. */
  readonly links: readonly string[];
  readonly date: Date;
  /** The label of a decision about this email; null when there was none. */
  readonly label: string | null;
}

export interface LinkGraph {
  readonly emails: readonly LinkedEmail[];
  /** Every Message-ID and meeting point to which the emails are tied, and any others, with their labels. */
  readonly messageIds: ReadonlyMap<string, string | null>;
  /** Meeting points of Message-IDs that an email has, or had, by now → those Message-IDs. Absent: none. */
  readonly points?: ReadonlyMap<string, string>;
  /** Pairs of labels that never come together. */
  readonly separations: readonly (readonly [string, string])[];
}
