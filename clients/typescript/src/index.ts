/** Typed client for the HTTP API of email-worker. */
export { createClient, type EmailWorkerClient } from './client.ts';
export type { Download } from './download.ts';
export { EmailWorkerError, type ClientErrorCode, type ErrorCode, type ServiceErrorCode } from './errors.ts';
export type { ClientOptions, RequestOptions, SendOptions } from './options.ts';
export type { Page, Pages } from './pages.ts';
export type { DownloadOptions } from './resources/attachments.ts';
export type * from './types.ts';
