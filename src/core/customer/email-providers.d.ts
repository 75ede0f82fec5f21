/** The package `email-providers` 2; it brings no types of its own. */
declare module 'email-providers' {
  /** Domains where any person can get an address, lower-case. */
  const domains: readonly string[];
  export default domains;
}
