/** The bounds of the rules that a caller may register for one customer. */

/** Addresses. Ours: more than the people of a large customer who ever write; a whole company is a domain rule. */
export const MAX_CUSTOMER_ADDRESSES = 1000;

/** Domain rules. Ours: groups of companies have some dozens of domains. */
export const MAX_CUSTOMER_DOMAINS = 200;
