// The arrows of the design and the one-door rules. Each message says where to go instead.
const processes = 'broker|controllers|admission|cli'
const layer = (name, from, to, comment) => ({ name, severity: 'error', comment, from: { path: from }, to: { path: to } })

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Find the idea both share and give it its own file.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'Nothing imports it: wire it or delete it.',
      from: {
        orphan: true,
        pathNot: [
          '\\.test\\.ts$',
          '(^|/)main\\.ts$',
          '^test/',
          '\\.config\\.ts$',
          'worker\\.ts$',
          'standalone\\.ts$',
          '/charts/',
          '/modules/',
          '-worker\\.ts$',
        ],
      },
      to: {},
    },
    layer('lib-knows-nothing', '^src/lib', '^src/(?!lib)', 'lib has no domain and imports nothing of ours.'),
    layer('api-on-lib', '^src/api', '^src/(?!api|lib)', 'Kinds are data: they know lib only.'),
    layer(
      'kube-on-api-lib',
      '^src/kube',
      '^src/(?!kube|api|lib)',
      'The runtime knows Kubernetes, no kind of ours and no process.',
    ),
    ...Object.entries({
      client: '',
      object: 'client|',
      cache: 'client|metrics|',
      lease: 'client|',
      controller: 'client|object|cache|metrics|',
    }).map(([part, may]) =>
      layer(
        `kube-${part}-arrows`,
        `^src/kube/${part}/(?!.*\\.test\\.ts$)`,
        `^src/kube/(?!${may}${part}/)`.replaceAll('|', '\\b|'),
        'Inside the runtime arrows point one way; the manager puts the parts together (src/kube/README.md).',
      ),
    ),
    layer(
      'kubeconfig-on-kube',
      '^src/kubeconfig',
      '^src/(?!kubeconfig|lib|kube/client/connection\\.ts)',
      'It makes the connection that the runtime is given, and knows nothing else of it.',
    ),
    layer('policy-is-pure', '^src/policy', '^src/(?!policy|api|lib)', 'Policy gets facts and gives decisions.'),
    layer(
      'identity-on-lib-api',
      '^src/identity',
      '^src/(?!identity|api|lib)',
      'identity signs and verifies; it knows no process and no store.',
    ),
    layer(
      'github-on-identity',
      '^src/github',
      '^src/(?!github|identity|api|lib)',
      'The door to GitHub knows no process and no store.',
    ),
    layer('store-on-lib', '^src/store', '^src/(?!store|api|lib)', 'The store knows no process.'),
    layer('web-on-lib', '^src/web', '^src/(?!web|api|lib)', 'Plumbing shared by processes knows none of them.'),
    ...['broker', 'controllers', 'admission', 'cli'].map(name =>
      layer(
        `${name}-alone`,
        `^src/${name}`,
        `^src/(${processes
          .split('|')
          .filter(other => other !== name)
          .join('|')})/`,
        'Processes never import each other: the Kubernetes API is the channel between them.',
      ),
    ),
    layer(
      'src-not-from-outside',
      '^src(?!.*[.]test[.]ts$)',
      '^(dev|test)/',
      'The product does not know its development environment.',
    ),
    {
      name: 'prisma-one-door',
      severity: 'error',
      comment: 'Use a repository of src/store.',
      from: { path: '^(src|test)', pathNot: '^src/store' },
      to: { path: 'node_modules/(@prisma|pg|pglite-prisma-adapter|@electric-sql)/' },
    },
    {
      name: 'octokit-one-door',
      severity: 'error',
      comment: 'Use src/github: it owns tokens, limits and errors.',
      from: { path: '^src', pathNot: '^src/github' },
      to: { path: 'node_modules/@octokit/' },
    },
    {
      name: 'jose-one-door',
      severity: 'error',
      comment: 'Use src/identity: it owns algorithms and claims.',
      from: { path: '^src', pathNot: '^src/(identity|cli)' },
      to: { path: 'node_modules/(jose|oidc-provider|@peculiar/x509)/' },
    },
    {
      name: 'openid-client-in-cli',
      severity: 'error',
      comment: 'Only the CLI is an OIDC client.',
      from: { path: '^src', pathNot: '^src/cli' },
      to: { path: 'node_modules/openid-client/' },
    },
    {
      name: 'kube-client-one-door',
      severity: 'error',
      comment: 'Use src/kube/client: it owns requests, the write gate and errors.',
      from: { path: '^src', pathNot: '^src/kubeconfig' },
      to: { path: 'node_modules/@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'casbin-one-door',
      severity: 'error',
      comment: 'Use src/policy.',
      from: { path: '^src', pathNot: '^src/policy' },
      to: { path: 'node_modules/casbin/' },
    },
    {
      name: 'cdk8s-one-door',
      severity: 'error',
      comment: 'Charts live in controllers/application/charts.',
      from: { path: '^src', pathNot: '^src/controllers/application/charts' },
      to: { path: 'node_modules/(cdk8s|cdk8s-plus-33|constructs)/' },
    },
    {
      name: 'pure-decisions',
      severity: 'error',
      comment: 'gather reads, reconcile writes; decide, desired and status are functions of facts.',
      from: { path: '^src/controllers/[^/]+/(decide|desired|status)\\.ts$' },
      to: {
        path: '^(src/store|src/github/(?!types)|src/kube/(client/(?!errors|client[.]ts)|manager))|undici|^(node:)?(fs|child_process|http|https|net)$',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['src/store/generated', 'dev/cluster/modules', 'deploy/examples'] },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
