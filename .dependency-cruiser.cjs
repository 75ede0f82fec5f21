/**
 * The import rule of docs/architecture.md as a check: which folder may import which.
 * main, cli → service → worker, adapters, app, core; worker → app; adapters → app, core; app → core; core → core.
 */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from, pathNot: '\\.test\\.ts$' },
  to: { path: '^src/', pathNot: [from, ...allowed].join('|') },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    only('core-imports-only-core', '^src/core/', []),
    only('app-imports-only-core', '^src/app/', ['^src/core/']),
    only('worker-imports-only-app-and-core', '^src/worker/', ['^src/app/', '^src/core/']),
    {
      name: 'adapters-never-import-each-other',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: ['^src/adapters/$1/', '^src/app/', '^src/core/'] },
    },
    only('config-imports-only-core', '^src/config[a-z-]*\\.ts$', ['^src/core/', '^src/app/']),
    {
      name: 'core-does-no-io',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(node:)?(net|tls|fs|fs/promises|http|https|dns|child_process|cluster|worker_threads)$' },
    },
    {
      name: 'http-never-imports-the-database-driver',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/(postgres|queue)/' },
      to: { path: 'node_modules/(pg|kysely)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
