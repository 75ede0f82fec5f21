/** Who and what the examples of the OpenAPI document tell of: an offer that a sales account sent to a customer. */
export const EMAIL = '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47';
export const REPLY = '0199d7c1-0a2b-7d44-8c11-7be05a9f6d20';
export const THREAD = '0199d3a4-5b1f-7a0c-b3d5-91c84e2f7a60';
export const OTHER_THREAD = '0199d0f2-6c3d-7e21-a4b7-03d96a1c5e88';
export const CUSTOMER = '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34';
export const OTHER_CUSTOMER = 'b83d0e57-92c4-4f6a-a1d8-7e25c6f09b13';
export const ATTACHMENT = '0199d3a4-5b20-7f93-8a6e-c4d17b0e5f29';
export const DECISION = '0199d9e8-41c7-7b35-9d02-e6f83a5c1b74';
export const WEBHOOK = '0199da02-7d31-7c68-8b4f-a15e0c92d736';
export const INSTANCE = 'd25a7f10-8b6c-4e93-b7f1-0c4a9e3d6582';
export const SENT_AT = '2026-01-30T09:15:00.000Z';
export const LATER = '2026-01-31T12:00:00.000Z';

export const EVENT_ID = '000512b000000004';

export const ANN = { name: 'Ann Example', address: 'ann@example.com' };
export const RAW_MESSAGE =
  'From: Ann Example <ann@example.com>\r\nTo: vertrieb@example.org\r\nSubject: Re: Ihr Angebot\r\n' +
  'Date: Sat, 31 Jan 2026 13:00:00 +0100\r\nMessage-ID: <reply-1@example.com>\r\n\r\nGerne!\r\n';
