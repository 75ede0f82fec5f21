/** Mail servers and transports of a test file. All are closed after each test, transports before their servers. */
import type { SMTPServerOptions } from 'smtp-server';
import { afterEach } from 'vitest';
import { createSmtpTransport, type SmtpTransport } from '../../src/connectors/smtp-out/smtp-transport.ts';
import { parseSmtpUrl } from '../../src/connectors/smtp-out/smtp-url.ts';
import type { Logger } from '../../src/platform/base/basics.ts';
import { startRealSmtpServer, type RealSmtpServer } from './real-smtp-server.ts';
import {
  startScriptedServer,
  type ScriptedServer,
  type ScriptedServerOptions,
} from './scripted-smtp-server.ts';
import { silentLogger } from './silent-logger.ts';

interface SmtpParts {
  startReal(options?: SMTPServerOptions): Promise<RealSmtpServer>;
  startScripted(options?: ScriptedServerOptions): Promise<ScriptedServer>;
  connect(url: string, limits?: Parameters<typeof parseSmtpUrl>[1], logger?: Logger): SmtpTransport;
}

/** Call it once, outside of tests. */
export function useSmtpParts(): SmtpParts {
  const open: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const part of open.splice(0)) await part.close();
  });
  return {
    async startReal(options) {
      const server = await startRealSmtpServer(options);
      open.push(server);
      return server;
    },
    async startScripted(options) {
      const server = await startScriptedServer(options);
      open.push(server);
      return server;
    },
    connect(url, limits, logger = silentLogger) {
      const transport = createSmtpTransport({ ...parseSmtpUrl(url, limits), logger });
      open.unshift(transport);
      return transport;
    },
  };
}
