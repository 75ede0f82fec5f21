/**
 * Builds the page into `page/dist`, with names that carry a hash of the content. `npm run dev -w page` serves it while it is
 * worked on; requests to the API then go to the service at EMAIL_WORKER_URL.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const SERVICE = process.env['EMAIL_WORKER_URL'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [react()],
  // The sources of the client: the page needs no build of it.
  resolve: {
    alias: {
      'email-worker-client': new URL('../clients/typescript/src/index.ts', import.meta.url).pathname,
    },
  },
  build: {
    // These know `light-dark()`, nesting and `text-wrap`, so the styles go out as they are written.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // A Content-Security-Policy without `data:` for scripts and styles; a file of its own is cached, too.
    assetsInlineLimit: 0,
    sourcemap: false,
    // The service compresses nothing at run time; `compress.mjs` says the sizes.
    reportCompressedSize: false,
    // kB before compression. What the first view may load, compressed, is tested.
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { '/api': SERVICE } },
});
