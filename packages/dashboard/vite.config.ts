import { defineConfig } from 'vite';

/** The pages are part of `phasegate`, and everything they need is beside them. */
export default defineConfig({
  root: import.meta.dirname,
  // All of it is loaded from below the page, whose path nobody knew before: at a path that can be known, a browser may
  // have kept what somebody else answered there while the server was down.
  base: './',
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: '../phasegate/dist/dashboard',
    emptyOutDir: true,
    // Nothing is put into the page itself: its policy lets no such thing run.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, handle) {
        // Libraries mark what runs in a browser for frameworks that run elsewhere too; here all of it does.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
    license: { fileName: 'THIRD_PARTY_NOTICES.txt' },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
});
