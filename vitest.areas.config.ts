import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/**
 * A part of `npm run test:newer`: files of areas that vitest.pooler.config.ts has nothing of, and that versions of Node.js may
 * treat differently: native packages, the following of requests, TLS, processes, threads, and signals.
 */
export default defineConfig({
  test: {
    ...shared,
    isolate: false,
    include: [
      'src/connectors/{journal,telemetry,tls}/*.test.ts',
      'src/platform/http/connections/{request-ids,tls}.test.ts',
      'src/connectors/mail-auth/check-message.test.ts',
      'src/connectors/smtp-out/smtp-faults.test.ts',
      'src/platform/base/{late-compiling,loop}.test.ts',
      'src/areas/{accounts,events,search,send,work}/{account-watch,event-numberer,search-indexer,send-queue-loop,work-watch}.test.ts',
      'test/{cli/dkim,client/service,inbound/listeners,mcp/mcp}.test.ts',
      'test/e2e/{metrics,tls,tracing}.test.ts',
    ],
  },
});
