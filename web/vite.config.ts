import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npx vite --config web/vite.config.ts` serves the sources and hands API calls to a running controller. */
const controller = `http://127.0.0.1:${process.env.HEADGATE_PORT ?? '8080'}`;

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // The page is served with `script-src 'self'`: nothing may be inlined as a script or fetched as a data: module.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    reportCompressedSize: true,
  },
  server: {
    host: '127.0.0.1',
    // What the UI shares with the server lies in the folder above, and so do some of its packages.
    fs: { allow: [fileURLToPath(new URL('..', import.meta.url))] },
    proxy: { '/api': controller, '/schemas': controller, '/git': controller },
  },
});
