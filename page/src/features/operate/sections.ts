/** The operators' views, and the right that each requires; null: none. */
export const SECTIONS = {
  accounts: 'read',
  sends: 'read',
  suppressions: 'operate',
  rules: 'operate',
  quarantine: 'operate',
  merges: 'read',
  figures: 'operate',
  imports: 'operate',
  webhooks: 'admin',
  keys: 'admin',
  audit: 'admin',
  sessions: null,
} as const;

export type Section = keyof typeof SECTIONS;

export const isSection = (name: string): name is Section => Object.hasOwn(SECTIONS, name);
