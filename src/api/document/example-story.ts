/** The people and things in the examples of the OpenAPI document: an offer that a sales account sent to a customer. */
export const EMAIL = '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47';
/** Identifies a request in the log. */
export const REQUEST = '0199d3a4-5b18-7e09-8c4d-2a91f6b07d35';
export const REPLY = '0199d7c1-0a2b-7d44-8c11-7be05a9f6d20';
/** The answer of the sales account to REPLY. */
export const ANSWER = '0199db11-2f60-7a17-b5c3-4d8e90a6f172';
export const FORWARD = '0199db25-8e04-7cb9-93fa-1b67c2d05e48';
export const THREAD = '0199d3a4-5b1f-7a0c-b3d5-91c84e2f7a60';
export const OTHER_THREAD = '0199d0f2-6c3d-7e21-a4b7-03d96a1c5e88';
export const CUSTOMER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
export const OTHER_CUSTOMER = 'b83d0e57-92c4-4f6a-a1d8-7e25c6f09b13';
export const ATTACHMENT = '0199d3a4-5b20-7f93-8a6e-c4d17b0e5f29';
export const DECISION = '0199d9e8-41c7-7b35-9d02-e6f83a5c1b74';
export const WEBHOOK = '0199da02-7d31-7c68-8b4f-a15e0c92d736';
export const TEMPLATE = '0199d1b6-3c58-7e04-9a72-58f0d3c6b91e';
export const RULE = '0199d2c8-5e14-7a93-8b06-4f7d21c9e0a5';
export const BLOCKED = '0199d2d0-17c3-7b48-90ae-6d3f58b1c427';
export const DRAFT = '0199dae7-64f3-7b28-a0d9-c27e15b8f306';
export const DRAFT_FILE = '0199dae7-91c5-7f6a-8e43-06b9d72a5fc1';
export const DELIVERY = '0199d7c1-1e9d-7350-b8f6-9a04e7d1c253';
export const VARIANT = '0199d7c1-4b7e-7a95-87d0-e3f5106c2a98';
export const QUARANTINED = '0199d7d8-05a3-7c1e-9b64-f72d8e0b3156';
export const REMOVAL = '01a65b7a-57d5-7cd4-8b1c-2a4f6f0b9d31';
export const ERASURE = '0199dc40-b1e8-7d52-8f07-3a96c5e4d01b';
export const UPLOAD = '0199d3a1-7f02-7e8b-a6c5-d40b19f3e872';
export const IMPORT = '0199ce5f-20d4-7693-b1ea-85c7f06d3e9a';
export const UNSUBSCRIBE = '0199d9f3-d6b7-70ca-9e18-62f4a3c8d05b';
export const INSTANCE = 'd25a7f10-8b6c-4e93-b7f1-0c4a9e3d6582';
export const SENT_AT = '2026-01-30T09:15:00.000Z';
export const LATER = '2026-01-31T12:00:00.000Z';

export const NEXT_DAY = '2026-02-01T12:00:00.000Z';
export const NEXT_YEAR = '2027-01-31T12:00:00.000Z';

export const EVENT_ID = '000512b000000004';

export const ANN = { name: 'Ann Example', address: 'ann@example.com' };
export const RAW_MESSAGE =
  'From: Ann Example <ann@example.com>\r\nTo: vertrieb@example.org\r\nSubject: Re: Ihr Angebot\r\n' +
  'Date: Sat, 31 Jan 2026 13:00:00 +0100\r\nMessage-ID: <reply-1@example.com>\r\n\r\nGerne!\r\n';
