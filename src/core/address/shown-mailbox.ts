/** A mailbox as people read it: `Ada <ada@example.com>`, or the one of both that there is. Not for headers. */
export const shownMailbox = ({
  name,
  address,
}: {
  readonly name: string;
  readonly address: string;
}): string => (name === '' || address === '' ? name || address : `${name} <${address}>`);
