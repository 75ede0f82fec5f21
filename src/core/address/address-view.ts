/** An address as it is stored and shown. */
export interface AddressView {
  readonly name: string;
  /** `local@domain`. */
  readonly address: string;
}
