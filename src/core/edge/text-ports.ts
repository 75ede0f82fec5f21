/** Ports to which no request is sent. */

/**
 * Ports of services that take text line by line and would act on the lines of a request: SSH, Telnet, SMTP, DNS, POP3, IMAP, SMB, LDAP,
 * submission. From the list that browsers refuse (Fetch standard, "bad port").
 */
const TEXT_PORTS = new Set([
  '22',
  '23',
  '25',
  '53',
  '110',
  '143',
  '389',
  '445',
  '465',
  '587',
  '636',
  '993',
  '995',
]);

/** @param port as in a URL: empty for that of its scheme */
export const isTextPort = (port: string): boolean => TEXT_PORTS.has(port);
