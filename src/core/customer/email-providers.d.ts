/** The package `email-providers` 2; it brings no types of its own. */
declare module 'email-providers' {
  /** Domains whose addresses anybody can get, lower-case. */
  const domains: readonly string[];
  export default domains;
}
