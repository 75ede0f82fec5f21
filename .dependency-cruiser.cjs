/**
 * The import rules of docs/architecture.md as a check: which floor may import which, and on each floor which area.
 * main, cli → service → worker, adapters, app, core; worker → app; adapters → app, core; app → platform, core; core → core.
 * platform → app/base, app/audit, core.
 */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from, pathNot: '\\.test\\.ts$' },
  to: { path: '^src/', pathNot: [from, ...allowed].join('|') },
});

/**
 * The areas of a floor, the lowest first: an area may import those that stand before it, and never one behind it or
 * one of its own line. Files that stand in no area may import all, and no area imports them. An area that is not
 * listed is an error, so that each new one gets its place.
 */
function layers(floor, lines) {
  const path = (areas) => `^${floor}/(${areas.join('|')})(/|$)`;
  const below = (index) => lines.slice(0, index).flat();
  return [
    {
      name: `areas-are-listed: ${floor}`,
      severity: 'error',
      from: { path: `^${floor}/[^/]+/`, pathNot: path(lines.flat()) },
      to: {},
    },
    ...lines.flatMap((areas, index) =>
      areas.map((area) => ({
        name: `areas-import-those-below: ${floor}/${area}`,
        severity: 'error',
        from: { path: path([area]), pathNot: '\\.test\\.ts$' },
        to: { path: `^${floor}/`, pathNot: path([area, ...below(index)]) },
      })),
    ),
  ];
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    only('core-imports-only-core', '^src/core/', []),
    only('app-imports-only-platform-and-core', '^src/app/', ['^src/platform/', '^src/core/']),
    only('platform-imports-only-core-and-what-is-below-it', '^src/platform/', [
      '^src/app/(base|audit)/',
      '^src/core/',
    ]),
    only('worker-imports-only-app-and-core', '^src/worker/', ['^src/app/', '^src/core/']),
    {
      name: 'adapters-never-import-each-other',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: ['^src/adapters/$1/', '^src/app/', '^src/platform/', '^src/core/'] },
    },
    only('config-imports-only-app-and-core', '^src/config/', ['^src/core/', '^src/app/']),
    {
      name: 'only-main-and-commands-import-the-service',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(cli|service)/', '^src/main\\.ts$'] },
      to: { path: '^src/(service|cli)/|^src/main\\.ts$' },
    },
    only('service-imports-no-command', '^src/service/', ['^src/(adapters|app|config|core|platform|worker)/']),
    ...layers('src/app', [
      ['base'],
      ['accounts', 'search', 'work', 'events', 'keys', 'audit', 'clock', 'metrics', 'statistics'],
      ['sessions'],
      ['files', 'webhooks', 'unsubscribes'],
      ['reading'],
      ['emails', 'uploads', 'templates'],
      ['addresses', 'customers', 'threads', 'send'],
      ['receive', 'erase', 'reply'],
      ['drafts'],
      ['mailboxes', 'import', 'backup'],
      ['sent-copies'],
    ]),
    ...layers('src/adapters/postgres', [
      ['db', 'embedded'],
      [
        'search',
        'accounts',
        'import',
        'events',
        'webhooks',
        'uploads',
        'unsubscribes',
        'sent-copies',
        'templates',
        'statistics',
        'files',
      ],
      ['emails'],
      ['drafts', 'customers', 'mailboxes', 'keys', 'audit', 'sessions'],
      ['addresses', 'threads'],
      ['send'],
      ['receive', 'work', 'erase', 'metrics', 'backup', 'doctor'],
    ]),
    ...layers('src/adapters/http', [
      ['connections'],
      ['body'],
      ['answers'],
      ['operations'],
      ['emails', 'receive', 'health', 'events', 'erase', 'sessions', 'page', 'uploads', 'unsubscribes'],
      ['customers', 'threads', 'send'],
      ['reply', 'mcp'],
      ['drafts'],
      ['document'],
    ]),
    ...layers('src/core/mime', [['limits\\.ts'], ['text'], ['parse', 'compose']]),
    {
      name: 'core-does-no-io',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(node:)?(net|tls|fs|fs/promises|http|https|dns|child_process|cluster|worker_threads)$' },
    },
    {
      name: 'only-postgres-imports-the-database-driver',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/postgres/' },
      to: { path: 'node_modules/(pg|pg-[a-z-]+)/' },
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
