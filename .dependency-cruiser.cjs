/**
 * The import rules of docs/architecture.md as a check: which floor may import which, and on each floor which folder.
 * main, cli → service → api, connectors → areas → platform → core. config → areas, platform, core.
 */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from, pathNot: '\\.test\\.ts$' },
  to: { path: '^src/', pathNot: [from, ...allowed].join('|') },
});

/**
 * The folders of a floor, the lowest first: a folder may import those that stand before it, and never one behind it or
 * one of its own line. A folder that is not listed is an error, so that each new one gets its place.
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
    only('platform-imports-only-core', '^src/platform/', ['^src/core/']),
    only('areas-import-only-platform-and-core', '^src/areas/', ['^src/(platform|core)/']),
    only('api-imports-only-areas-and-below', '^src/api/', ['^src/(areas|platform|core)/']),
    only('config-imports-only-areas-and-below', '^src/config/', ['^src/(areas|platform|core)/']),
    {
      name: 'connectors-never-import-each-other',
      severity: 'error',
      from: { path: '^src/connectors/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: ['^src/connectors/$1/', '^src/(areas|platform|core)/'] },
    },
    {
      name: 'only-main-and-commands-import-the-service',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(cli|service)/', '^src/main\\.ts$'] },
      to: { path: '^src/(service|cli)/|^src/main\\.ts$' },
    },
    only('service-imports-no-command', '^src/service/', [
      '^src/(api|areas|config|connectors|core|platform)/',
    ]),
    ...layers('src/platform', [
      ['base'],
      ['access', 'db', 'schemas'],
      ['files', 'operation', 'http/connections'],
      ['reading', 'http/body'],
      ['http/answers'],
      ['http/operations'],
    ]),
    ...layers('src/areas', [
      [
        'accounts',
        'audit',
        'clock',
        'doctor',
        'events',
        'keys',
        'metrics',
        'search',
        'sessions',
        'statistics',
        'templates',
        'unsubscribes',
      ],
      ['emails', 'webhooks'],
      ['customers'],
      ['addresses', 'threads'],
      ['rules', 'send'],
      ['absence'],
      ['backup', 'receive', 'reply', 'uploads'],
      ['drafts', 'import', 'mailboxes', 'submission'],
      ['erase', 'sent-copies'],
      ['capture'],
      ['work'],
    ]),
    ...layers('src/core/mime', [['limits\\.ts'], ['text'], ['parse', 'compose']]),
    {
      name: 'core-does-no-io',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(node:)?(net|tls|fs|fs/promises|http|https|dns|child_process|cluster|worker_threads)$' },
    },
    {
      name: 'the-database-driver-stays-below',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(areas/|platform/(db|files)/|connectors/embedded-postgres/)',
      },
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
