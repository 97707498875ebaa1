import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// The server sends the pages, under a policy that allows nothing but files of its own: nothing is
// inlined, and no polyfill is injected.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: "../src/gamekeeper/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: true,
  },
  server: {
    // Pages while they are written: `gamekeeper serve` beside `npx vite`.
    proxy: { "/api": "http://127.0.0.1:8720", "/start": "http://127.0.0.1:8720" },
  },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
